// What pages do beyond being read: they follow changes, and steer experiments. One tab of a browser holds the stream of
// changes for all of them, and a tab that nobody sees holds none.
"use strict";
(() => {
  const live = document.getElementById("live");
  const channel = "BroadcastChannel" in window ? new BroadcastChannel("spelrum-changes") : null;
  let release = null;
  let stream = null;
  let fetching = false;
  let again = false;
  // The timer of a page that the coordinator was too busy to make.
  let retry = null;
  let last = document.querySelector("main")?.innerHTML;

  const LATE = "not up to date";
  const OTHER = "the coordinator has another version: load this page anew";
  const say = (words) => { if (live && live.textContent !== words) live.textContent = words; };

  // A page of a form that is sent, or of a search or a refusal, is not fetched again: its address alone does not give it.
  const isStill = () => document.querySelector("form[method=post], [data-still]") !== null;

  const isEdited = (part) => [...part.querySelectorAll("input, textarea")].some((field) => field.value !== field.defaultValue)
    || [...part.querySelectorAll("option")].some((option) => option.selected !== option.defaultSelected);

  // What can have the focus without an id, in the order of the page.
  const stops = (part) => [...part.querySelectorAll("a, button, summary, select")];

  // The build of a page, which the address of its script names.
  const build = (page) => page.querySelector("script[src^='/static/pages.js']")?.getAttribute("src");

  // Loads the page anew: its style and script do not fit pages of another build. At most once a minute in a tab, should
  // coordinators of two builds answer in turn.
  const renew = () => {
    try {
      if (!(Date.now() - Number(sessionStorage.getItem("spelrum-renewed")) < 60000)) {
        sessionStorage.setItem("spelrum-renewed", Date.now());
        location.reload();
        return;
      }
    } catch { /* No storage: the reader does it. */ }
    say(OTHER);
  };

  // Fetches this page again, and puts its contents in the place of those that are shown.
  const refresh = async () => {
    if (document.hidden || isStill()) return;
    if (fetching) { again = true; return; }
    fetching = true;
    clearTimeout(retry);
    retry = null;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
      if (answer.status === 401) { say("let this browser in anew: spelrum open"); return; }
      if (!answer.ok) {
        say(LATE);
        const seconds = Number(answer.headers.get("retry-after"));
        if (seconds) retry = setTimeout(refresh, 1000 * seconds * (1 + Math.random()));
        return;
      }
      const text = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = text.querySelector("main");
      const shown = document.querySelector("main");
      const busy = document.activeElement?.matches("main input, main textarea, main select") || (shown && isEdited(shown));
      // Not a page of a coordinator, but of a proxy before it.
      if (!build(text)) { say(LATE); return; }
      if (build(text) !== build(document)) {
        if (busy) say(OTHER); else renew();
        return;
      }
      // A game under way has ended.
      if (answer.redirected && shown?.querySelector("[data-follows]")) {
        if (!busy) location.replace(answer.url);
        return;
      }
      if (live?.textContent === LATE) say("");
      if (!fresh || !shown || busy || fresh.innerHTML === last) return;
      last = fresh.innerHTML;
      const open = [...shown.querySelectorAll("details")].map((part) => part.open);
      const focused = shown.contains(document.activeElement) ? document.activeElement : null;
      const stop = stops(shown).indexOf(focused);
      shown.replaceChildren(...fresh.childNodes);
      shown.querySelectorAll("details").forEach((part, index) => { if (open[index]) part.open = true; });
      ready();
      // Observers of the contents show their buttons first.
      await null;
      const same = focused?.id ? document.getElementById(focused.id) : stops(shown)[stop];
      if (same && (focused.id || same.textContent === focused.textContent)) same.focus({ preventScroll: true });
    } catch {
      say("the coordinator does not answer");
    } finally {
      fetching = false;
      if (again) { again = false; setTimeout(refresh, 1000); }
    }
  };

  // Not all tabs and browsers at the same moment.
  const changed = () => setTimeout(refresh, 200 * Math.random());

  const listen = () => {
    stream = new EventSource("/live");
    stream.addEventListener("open", () => { say(""); refresh(); });
    stream.addEventListener("changed", () => { changed(); channel?.postMessage("changed"); });
    stream.addEventListener("error", () => {
      say("the coordinator does not answer");
      // A stream that is refused does not come back by itself, and another tab may have more luck.
      if (stream?.readyState === EventSource.CLOSED) { stop(); refresh(); setTimeout(follow, 10000); }
    });
  };

  const stop = () => {
    stream?.close();
    stream = null;
    release?.();
    release = null;
  };

  const follow = () => {
    if (document.hidden) { stop(); return; }
    if (isStill()) return;
    refresh();
    if (stream || release) return;
    if (!navigator.locks) { listen(); return; }
    navigator.locks.request("spelrum-changes", () => new Promise((resolve) => {
      if (document.hidden) { resolve(); return; }
      release = resolve;
      listen();
    }));
  };

  const steer = async (button) => {
    const action = button.dataset.steer;
    if (action === "cancel" && !confirm("Cancel this experiment? It cannot be resumed.")) return;
    const field = document.getElementById("priority");
    if (action === "priority" && !field.reportValidity()) return;
    const wish = field?.value;
    const priority = action === "priority" ? Number(wish) : undefined;
    const hadFocus = document.activeElement === button;
    button.disabled = true;
    try {
      const path = `/api/v1/experiments/${encodeURIComponent(button.dataset.experiment)}/steer`;
      const headers = { "content-type": "application/json" };
      const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify({ action, priority }) });
      const said = await answer.json();
      if (!answer.ok) { say([said.detail, said.remedy].filter(Boolean).join("; ")); return; }
      say(`${action}: done`);
      if (action === "priority") field.defaultValue = wish;
      await refresh();
    } catch {
      say("the coordinator does not answer");
    } finally {
      button.disabled = false;
      // A disabled button loses the focus, and after a pause another one is in its place.
      if (hadFocus && document.activeElement === document.body) {
        const same = document.getElementById(button.id) ?? document.querySelector("button[data-steer]");
        same?.focus({ preventScroll: true });
      }
    }
  };

  const ready = () => {
    document.querySelectorAll(".priority").forEach((field) => { field.hidden = false; });
    document.querySelectorAll("button[data-steer]").forEach((button) => {
      button.hidden = false;
      button.addEventListener("click", () => steer(button));
    });
  };

  // A game under way is followed only while it is asked for.
  setInterval(() => { if (!retry && document.querySelector("[data-follows]")) refresh(); }, 1000);
  channel?.addEventListener("message", changed);
  document.addEventListener("visibilitychange", follow);
  window.addEventListener("pagehide", stop);
  ready();
  follow();
})();
