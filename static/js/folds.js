// Filters are folded on small screens and open on large ones; without JavaScript they are as the page was sent.
// A part of a page that is folded opens when a link leads to it.
const WIDE = matchMedia("(min-width: 56rem)");

export function wireFolds(root) {
  for (const fold of root.querySelectorAll("details.filters")) {
    fold.open = WIDE.matches;
    WIDE.addEventListener("change", () => (fold.open = WIDE.matches));
  }
  if (root.querySelector("details.fold")) {
    addEventListener("hashchange", openTarget);
    openTarget();
  }
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target?.closest("details.fold");
  if (fold && !fold.open) {
    fold.open = true;
    target.scrollIntoView({ block: "start" });
  }
}
