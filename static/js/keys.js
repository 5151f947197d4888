// Keys: each follows the link, presses the button or enters the field that names it in `data-key`.
const OFF = "keys-off";
const EDITABLE = "input:not([type=checkbox]), select, textarea, [contenteditable]";

export function wireKeys() {
  document.addEventListener("keydown", (event) => {
    if (!isMeant(event)) return;
    const target = targetOf(event.key);
    if (!target) return;
    event.preventDefault();
    // Links that came just now would load a whole page: they are wired a moment after they are shown.
    const isNew = !target.matches("input") && document.querySelector(".htmx-added");
    if (isNew) document.addEventListener("htmx:afterSettle", () => follow(targetOf(event.key)), { once: true });
    else follow(target);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-opens-keys]")) document.getElementById("keys").showModal();
  });
  document.addEventListener("htmx:afterSwap", showButtons);
  showButtons();
  wireSwitch(document.querySelector("[data-keys-switch]"));
}

function isMeant(event) {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return false;
  if (document.querySelector("dialog[open]") || event.target.closest?.(EDITABLE)) return false;
  return event.key === "?" || !areOff();
}

function follow(target) {
  if (target?.matches("input")) target.focus();
  else target?.click();
}

function targetOf(key) {
  const wanted = key.length === 1 ? key.toLowerCase() : key;
  return [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key.split(" ").includes(wanted));
}

function showButtons() {
  for (const button of document.querySelectorAll("[data-opens-keys]")) button.hidden = false;
}

// Letters as keys get in the way of who dictates: they can be turned off.
function wireSwitch(box) {
  box.checked = !areOff();
  box.addEventListener("change", () => {
    try {
      if (box.checked) localStorage.removeItem(OFF);
      else localStorage.setItem(OFF, "1");
    } catch {
      // storage may be forbidden; then keys stay on
    }
  });
}

function areOff() {
  try {
    return localStorage.getItem(OFF) !== null;
  } catch {
    return false;
  }
}
