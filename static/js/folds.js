// Filters are folded on small screens and open on large ones; without JavaScript they are as the page was sent.
const WIDE = matchMedia("(min-width: 56rem)");

export function wireFolds(root) {
  for (const fold of root.querySelectorAll("details.filters")) {
    fold.open = WIDE.matches;
    WIDE.addEventListener("change", () => (fold.open = WIDE.matches));
  }
}
