// A button that goes through: as the system has it, light, dark.
const ORDER = ["auto", "light", "dark"];

export function wireThemeSwitch(button) {
  if (!button) return;
  button.hidden = false;
  show(button, current());
  button.addEventListener("click", () => {
    const next = ORDER[(ORDER.indexOf(current()) + 1) % ORDER.length];
    apply(next);
    show(button, next);
  });
}

function current() {
  return document.documentElement.dataset.theme ?? "auto";
}

function apply(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "auto") localStorage.removeItem("theme");
    else localStorage.setItem("theme", theme);
  } catch {
    // not kept, but it holds for this page
  }
}

function show(button, theme) {
  for (const icon of button.querySelectorAll("[data-icon]")) icon.toggleAttribute("hidden", icon.dataset.icon !== theme);
  button.setAttribute("aria-label", `Theme: ${theme}. Change it.`);
  button.title = `Theme: ${theme}`;
}
