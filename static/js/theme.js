// Runs before the first paint: a theme chosen earlier must not flash. The switch itself is in app.js.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // storage may be forbidden; the system's preference then holds
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
