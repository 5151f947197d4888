// Comfort on every page. Each page works without it.
import { addCopyButtons } from "./copy.js";
import { wireFolds } from "./folds.js";
import { wireThemeSwitch } from "./theme-switch.js";

wireThemeSwitch(document.querySelector("[data-theme-switch]"));
addCopyButtons(document);
wireFolds(document);
document.addEventListener("htmx:load", (event) => addCopyButtons(event.target));
