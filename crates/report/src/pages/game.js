// Steps through a game's moves without loading the page again: by arrow keys, Home and End, a slider, and the page's links.
// It shows parts of the page of another ply. Where it cannot fetch that page, nothing changes, and links work as links.
// The page itself may be replaced at any time: elements are looked up anew, and it stays as the server writes it.
"use strict";
(() => {
  const find = (selector) => document.querySelector(`#game ${selector}`);
  const slider = () => find("input[name=ply]");
  if (!slider()) return;
  const shown = () => Number(document.getElementById("game").dataset.ply);
  let wanted = shown();
  let running = false;

  document.documentElement.classList.add("steps-by-script");
  const said = document.createElement("p");
  said.className = "unseen";
  said.setAttribute("role", "status");
  said.setAttribute("aria-live", "polite");
  document.body.append(said);

  const address = (ply) => {
    const url = new URL(location.href);
    url.searchParams.set("ply", ply);
    url.hash = "";
    return url;
  };

  // Replaces the parts that differ, and keeps the focus and the place in the list of moves.
  const take = (fresh) => {
    const game = document.getElementById("game");
    const focused = game.contains(document.activeElement) ? document.activeElement : null;
    const inList = focused && focused.closest("[data-part=moves]");
    const scrolled = find(".moves").scrollTop;
    const open = Array.from(game.querySelectorAll("[data-part] details"), (details) => details.open);
    for (const part of game.querySelectorAll("[data-part]")) {
      const other = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
      if (other && part.innerHTML !== other.innerHTML) part.replaceChildren(...other.childNodes);
    }
    game.querySelectorAll("[data-part] details").forEach((details, index) => { details.open = Boolean(open[index]); });
    game.dataset.ply = fresh.dataset.ply;
    slider().setAttribute("value", fresh.dataset.ply);
    const list = find(".moves");
    list.scrollTop = scrolled;
    const current = list.querySelector("[aria-current]");
    if (current) {
      const row = current.closest("tr");
      const head = list.querySelector("thead").offsetHeight;
      const [top, bottom] = [row.offsetTop - head, row.offsetTop + row.offsetHeight - list.clientHeight];
      list.scrollTop = Math.min(Math.max(list.scrollTop, bottom), top);
    }
    if (focused && !focused.isConnected) {
      const same = inList ? current : focused.id && document.getElementById(focused.id);
      if (same) same.focus({ preventScroll: true });
    }
    said.textContent = `${find(".reached").textContent}. ${find(".status").textContent}`;
  };

  // Shows a ply, and after it the one that was asked for meanwhile. Returns whether it could.
  const show = async (ply) => {
    wanted = Math.min(Math.max(ply, 0), Number(slider().max));
    slider().value = wanted;
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
      slider().value = wanted;
      return false;
    } finally {
      running = false;
    }
  };

  document.addEventListener("input", (event) => {
    if (event.target === slider()) show(Number(event.target.value));
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("#game .plies")) return;
    event.preventDefault();
    show(Number(slider().value));
  });
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("#game a[href^='?ply=']");
    if (!link || event.button || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const { href, search } = link;
    if (!(await show(Number(new URLSearchParams(search).get("ply"))))) location.assign(href);
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest("input, textarea, select, summary, .moves, [contenteditable]")) return;
    const steps = { ArrowLeft: wanted - 1, ArrowRight: wanted + 1, Home: 0, End: Number(slider().max) };
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    show(steps[event.key]);
  });
})();
