// The editor: a live preview and a slider. Every page works without this file.
"use strict";

const form = document.querySelector("form[data-live]");

if (form) {
  const epsilon = form.elements.epsilon;
  const preview = document.getElementById("preview");
  const slider = form.querySelector("[data-slider]");
  const range = slider.querySelector("input");
  let waiting = 0;
  let current = null;

  async function refresh() {
    if (!form.checkValidity()) return;
    if (current) current.abort();
    current = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    fields.set("part", "preview");
    try {
      const answer = await fetch(form.dataset.live, { method: "POST", body: fields, signal: current.signal });
      if (answer.redirected) {
        location.assign(answer.url);
        return;
      }
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (answer.ok) preview.replaceChildren(...found.body.childNodes);
    } catch (error) {
      if (error.name !== "AbortError") preview.textContent = "The server did not answer.";
    }
  }

  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 350);
  }

  function place() {
    const value = Math.log10(Number(epsilon.value));
    if (Number.isFinite(value)) range.value = String(value);
  }

  slider.hidden = false;
  place();
  range.addEventListener("input", () => {
    epsilon.value = String(Number((10 ** Number(range.value)).toPrecision(2)));
    soon();
  });
  form.addEventListener("input", (event) => {
    if (event.target === epsilon) place();
    if (event.target !== range) soon();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      clearTimeout(waiting);
      refresh();
    }
  });
  preview.addEventListener("click", (event) => {
    const price = event.target.closest("[data-epsilon]");
    if (!price) return;
    epsilon.value = price.dataset.epsilon;
    if (form.elements.error) form.elements.error.value = "";
    place();
    refresh();
  });
}
