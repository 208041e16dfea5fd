// Steps through a game's moves without loading the page again: by arrow keys, Home and End, a slider, and the page's links.
// It shows parts of the page of another ply. Where it cannot fetch that page, nothing changes, and links work as links.
"use strict";
(() => {
  const game = document.getElementById("game");
  const form = game && game.querySelector("form.plies");
  if (!form || !window.fetch || !window.DOMParser) return;
  const slider = form.elements.namedItem("ply");
  const said = document.getElementById("said");
  const last = Number(slider.max);
  const shown = () => Number(game.dataset.ply);
  let wanted = shown();
  let running = false;
  form.querySelector("button").hidden = true;

  const address = (ply) => {
    const url = new URL(location.href);
    url.searchParams.set("ply", ply);
    url.hash = "";
    return url;
  };

  // Replaces the parts that differ, and keeps the focus and the place in the list of moves.
  const take = (fresh) => {
    const focused = game.contains(document.activeElement) ? document.activeElement : null;
    const inList = focused && focused.closest("[data-part=moves]");
    const scrolled = game.querySelector(".moves").scrollTop;
    const open = Array.from(game.querySelectorAll("[data-part] details"), (details) => details.open);
    for (const part of game.querySelectorAll("[data-part]")) {
      const other = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
      if (other && part.innerHTML !== other.innerHTML) part.replaceChildren(...other.childNodes);
    }
    game.querySelectorAll("[data-part] details").forEach((details, index) => { details.open = Boolean(open[index]); });
    game.dataset.ply = fresh.dataset.ply;
    const list = game.querySelector(".moves");
    list.scrollTop = scrolled;
    const current = list.querySelector("[aria-current]");
    const row = current && current.closest("tr");
    if (row) {
      const head = list.querySelector("thead").offsetHeight;
      const [top, bottom] = [row.offsetTop - head, row.offsetTop + row.offsetHeight - list.clientHeight];
      list.scrollTop = Math.min(Math.max(list.scrollTop, bottom), top);
    }
    if (focused && !focused.isConnected) {
      const same = inList ? current : focused.id && document.getElementById(focused.id);
      if (same) same.focus({ preventScroll: true });
    }
    said.textContent = game.querySelector(".reached").textContent + ". " + game.querySelector(".status").textContent;
  };

  // Shows a ply, and after it the one that was asked for meanwhile. Returns whether it could.
  const show = async (ply) => {
    wanted = Math.min(Math.max(ply, 0), last);
    slider.value = wanted;
    if (running) return true;
    running = true;
    try {
      while (wanted !== shown()) {
        const [asked, url] = [wanted, address(wanted)];
        const answer = await fetch(url, { credentials: "same-origin" });
        if (!answer.ok) throw new Error(answer.status);
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = page.getElementById("game");
        if (!fresh || Number(fresh.dataset.ply) !== asked) throw new Error("another page");
        take(fresh);
        history.replaceState(history.state, "", url);
      }
      return true;
    } catch {
      wanted = shown();
      slider.value = wanted;
      return false;
    } finally {
      running = false;
    }
  };

  slider.addEventListener("input", () => show(Number(slider.value)));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(Number(slider.value));
  });
  game.addEventListener("click", async (event) => {
    const link = event.target.closest("a[href^='?ply=']");
    if (!link || event.button || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const { href, search } = link;
    if (!(await show(Number(new URLSearchParams(search).get("ply"))))) location.assign(href);
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest("input, textarea, select, summary, .moves, [contenteditable]")) return;
    const steps = { ArrowLeft: wanted - 1, ArrowRight: wanted + 1, Home: 0, End: last };
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    show(steps[event.key]);
  });
})();
