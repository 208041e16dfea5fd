// Excludes workers and readmits them.
"use strict";
(() => {
  const live = document.getElementById("live");
  const show = () => document.querySelectorAll("button[data-exclusion]").forEach((button) => { button.hidden = false; });
  const call = async (worker, what) => {
    const headers = { "content-type": "application/json" };
    const path = `/api/v1/workers/${encodeURIComponent(worker)}/exclusion`;
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify({ what }) });
    const said = await answer.json();
    if (!answer.ok) throw new Error([said.detail, said.remedy].filter(Boolean).join("; "));
    return said;
  };
  const click = async (button) => {
    const { worker, exclusion } = button.dataset;
    const hadFocus = document.activeElement === button;
    button.disabled = true;
    try {
      if (exclusion === "exclude") {
        const { games } = await call(worker, "preview");
        const words = `Exclude worker ${worker}? It gets no more games, and its results (${games}) are discarded and replayed by others.`;
        if (!confirm(words)) return;
      }
      await call(worker, exclusion);
      live.textContent = exclusion === "exclude" ? `worker ${worker} is excluded` : `worker ${worker} is readmitted`;
    } catch (error) {
      live.textContent = error instanceof TypeError ? "the coordinator does not answer" : error.message;
    } finally {
      button.disabled = false;
      // A disabled button loses the focus, and the contents may have been replaced.
      if (hadFocus && document.activeElement === document.body) document.getElementById(button.id)?.focus({ preventScroll: true });
    }
  };
  // The page's contents are replaced when something has changed.
  const contents = document.getElementById("contents");
  contents.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-exclusion]");
    if (button) click(button);
  });
  new MutationObserver(show).observe(contents, { childList: true });
  show();
})();
