// Names of tables and columns, completed while they are typed. Arrows choose, Enter takes, Escape closes;
// Control+Space shows all. Every page works without this file.
"use strict";

const fields = [...document.querySelectorAll("[data-names]")];

if (fields.length) {
  const form = fields[0].form;
  const known = [...form.querySelectorAll("[data-insert]")];
  const list = document.createElement("ul");
  const most = 8;
  let target = fields[0];
  let active = -1;

  list.id = "names-found";
  list.className = "found";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Tables and columns");
  list.hidden = true;

  function word(field) {
    return /[\p{L}\p{N}_]*$/u.exec(field.value.slice(0, field.selectionStart))[0];
  }

  function close() {
    list.hidden = true;
    active = -1;
    for (const field of fields) {
      field.removeAttribute("aria-activedescendant");
      field.removeAttribute("aria-controls");
    }
  }

  function put(name, length) {
    const end = target.selectionEnd;
    const begin = target.selectionStart - length;
    const isNext = !length && target.dataset.names === "list" && target.value.trim();
    if (isNext) {
      const comma = target.value.trim().endsWith(",") ? " " : ", ";
      target.value = target.value.trim() + comma + name;
    } else {
      target.setRangeText(name, begin, end, "end");
    }
    close();
    target.focus();
    target.dispatchEvent(new Event("input", { bubbles: true }));
    close();
  }

  function choose(place) {
    const shown = [...list.children];
    active = (place + shown.length) % shown.length;
    shown.forEach((one, at) => one.setAttribute("aria-selected", String(at === active)));
    target.setAttribute("aria-activedescendant", shown[active].id);
  }

  function open(field, showsAll) {
    const typed = word(field).toLowerCase();
    close();
    if (!typed && !showsAll) return;
    const found = new Map();
    for (const one of known) {
      const name = one.textContent;
      if (name.toLowerCase().startsWith(typed) && name.toLowerCase() !== typed) found.set(name, one.dataset.insert);
    }
    if (!found.size) return;
    target = field;
    list.replaceChildren(
      ...[...found].slice(0, most).map(([name, text], at) => {
        const item = document.createElement("li");
        item.id = `name-found-${at}`;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        item.textContent = name;
        item.dataset.text = text;
        return item;
      }),
    );
    field.insertAdjacentElement("afterend", list);
    field.setAttribute("aria-controls", list.id);
    list.hidden = false;
  }

  for (const field of fields) {
    field.setAttribute("aria-autocomplete", "list");
    field.addEventListener("focus", () => (target = field));
    field.addEventListener("input", () => open(field, false));
    field.addEventListener("blur", close);
    field.addEventListener("keydown", (event) => {
      if (event.key === " " && event.ctrlKey) {
        event.preventDefault();
        open(field, true);
      } else if (list.hidden) {
        return;
      } else if (event.key === "Escape") {
        event.preventDefault();
        close();
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        choose(event.key === "ArrowDown" ? active + 1 : Math.max(active, 0) - 1);
      } else if (event.key === "Enter" && active >= 0 && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        put(list.children[active].dataset.text, word(field).length);
      }
    });
  }
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();
    const item = event.target.closest("[role=option]");
    if (item) put(item.dataset.text, word(target).length);
  });
  form.addEventListener("click", (event) => {
    const name = event.target.closest("[data-insert]");
    if (name) put(name.dataset.insert, 0);
  });
}
