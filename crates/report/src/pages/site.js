// Steps through a game whose boards are all in its page: by arrow keys, Home and End, a slider, and the page's links.
// Without it, links show another ply.
"use strict";
(() => {
  const slider = document.getElementById("ply");
  if (!slider) return;
  const [first, last] = [Number(slider.min), Number(slider.max)];
  const within = (ply) => Math.min(Math.max(ply, first), last);
  const board = (ply) => document.getElementById(`ply-${ply}`);
  const asked = (hash) => {
    const ply = /^#ply-(\d+)$/.exec(hash);
    return within(ply ? Number(ply[1]) : last);
  };
  let shown = last;
  const said = document.createElement("p");
  said.className = "unseen";
  said.setAttribute("role", "status");
  said.setAttribute("aria-live", "polite");

  // Marks the ply of the address in the slider and in the list.
  const mark = () => {
    shown = asked(location.hash);
    slider.value = shown;
    const list = document.querySelector(".moves");
    list?.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const move = list?.querySelector(`a[href="#ply-${shown}"]`);
    if (move) {
      move.setAttribute("aria-current", "step");
      const row = move.closest("tr");
      const head = list.querySelector("thead").offsetHeight;
      const [top, bottom] = [row.offsetTop - head, row.offsetTop + row.offsetHeight - list.clientHeight];
      list.scrollTop = Math.min(Math.max(list.scrollTop, bottom), top);
    }
  };

  // Shows a ply, where the page is scrolled to.
  const show = (wanted) => {
    const ply = within(wanted);
    if (ply === shown) return;
    const focused = document.activeElement?.closest(".ply .steps a")?.rel;
    const place = [scrollX, scrollY];
    location.replace(`#ply-${ply}`);
    scrollTo(...place);
    mark();
    if (focused) board(ply).querySelector(`.steps a[rel="${focused}"], .steps a[href]`)?.focus({ preventScroll: true });
    said.textContent = `${board(ply).querySelector(".reached").textContent}. ${board(ply).querySelector(".status").textContent}`;
  };

  // Shows what the slider asks for, once a frame: browsers refuse many changes of the address in a short time.
  let wish = null;
  let isWaiting = false;
  const slide = () => {
    if (wish === null || isWaiting) return;
    const ply = wish;
    wish = null;
    isWaiting = true;
    show(ply);
    requestAnimationFrame(() => { isWaiting = false; slide(); });
  };

  document.body.append(said);
  slider.parentElement.hidden = false;
  mark();
  window.addEventListener("hashchange", mark);
  slider.addEventListener("input", () => { wish = Number(slider.value); slide(); });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#ply-']");
    if (!link || event.button || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(asked(link.hash));
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest("input, textarea, select, summary, .moves, [contenteditable]")) return;
    const steps = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: first, End: last };
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    show(steps[event.key]);
  });
})();
