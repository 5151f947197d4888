// Filters without a new page: keeps the sidebar as its reader left it. Keys.
import { wireKeys } from "./keys.js";
import { wireRefusals } from "./refusals.js";

let kept = new Map();

wireKeys();
wireRefusals();

document.addEventListener("htmx:beforeSwap", () => {
  kept = new Map([...folds()].map((fold) => [fold.id, { open: fold.open, top: fold.querySelector("ul")?.scrollTop ?? 0 }]));
});

document.addEventListener("htmx:afterSwap", () => {
  for (const fold of folds()) {
    const was = kept.get(fold.id);
    if (!was) continue;
    fold.open = was.open;
    const list = fold.querySelector("ul");
    if (list) list.scrollTop = was.top;
  }
});

function folds() {
  return document.querySelectorAll("#browse details[id]");
}
