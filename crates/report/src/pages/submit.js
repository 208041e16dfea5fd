// A file for the form of a new sweep, chosen or dropped: its text comes into the form, where it can be read.
"use strict";
(() => {
  const area = document.querySelector("form.sweep textarea");
  if (!area) return;
  const most = 1048576;
  const said = document.getElementById("said");
  const file = document.getElementById("file");
  const plan = document.querySelector(".plan form");
  const tooLong = (bytes) => `The sweep has ${bytes} bytes; the limit is ${most}.`;
  // The plan is of the text that was sent.
  const compare = () => {
    if (!plan) return;
    const changed = area.value !== area.defaultValue;
    plan.querySelector("button").disabled = changed;
    document.getElementById("changed").textContent = changed ? "The text has changed: check it again." : "";
  };
  let fromFile = "";
  const take = async (chosen) => {
    if (!chosen) return;
    if (chosen.size > most) { said.textContent = tooLong(chosen.size); return; }
    const text = await chosen.text();
    if (area.value.trim() && area.value !== fromFile && !confirm(`Replace the text in the form with ${chosen.name}?`)) return;
    area.value = text;
    fromFile = area.value;
    compare();
    said.textContent = `${chosen.name} is in the form.`;
  };
  file.closest("[hidden]").hidden = false;
  file.addEventListener("change", async () => { await take(file.files[0]); file.value = ""; });
  area.addEventListener("input", compare);
  // A browser may bring back what was typed.
  window.addEventListener("pageshow", compare);
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    area.addEventListener(kind, (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      area.classList.toggle("over", kind === "dragenter" || kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  }
  area.form.addEventListener("submit", (event) => {
    const bytes = new TextEncoder().encode(area.value).length;
    if (bytes <= most) return;
    event.preventDefault();
    said.textContent = tooLong(bytes);
  });
})();
