// A file for the form of a new sweep, chosen or dropped: its text comes into the form, where it can be read.
"use strict";
(() => {
  const area = document.querySelector("form.sweep textarea");
  if (!area) return;
  const most = 1048576;
  const said = document.getElementById("said");
  const file = document.getElementById("file");
  const tooLong = (bytes) => `The sweep has ${bytes} bytes, and may have ${most}.`;
  const take = async (chosen) => {
    if (!chosen) return;
    if (chosen.size > most) { said.textContent = tooLong(chosen.size); return; }
    area.value = await chosen.text();
    said.textContent = `${chosen.name} is in the form.`;
  };
  file.closest("[hidden]").hidden = false;
  file.addEventListener("change", () => take(file.files[0]));
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
