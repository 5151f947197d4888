// Comfort on every page. Each page works without it.
import { addCopyButtons } from "./copy.js";
import { wireFolds } from "./folds.js";
import { wireThemeSwitch } from "./theme-switch.js";

wireThemeSwitch(document.querySelector("[data-theme-switch]"));
addCopyButtons(document);
wireFolds(document);
arrive();
document.addEventListener("htmx:load", (event) => addCopyButtons(event.target));

// A form that came back leads to what is new on its page: what is wrong, a preview, the text that was updated.
function arrive() {
  const place = document.querySelector("[data-arrive], #arrive");
  place?.focus({ preventScroll: true });
  place?.scrollIntoView({ block: "start" });
}
