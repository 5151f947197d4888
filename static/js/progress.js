// Keeps the part of a page fresh that says how the making of a dataset goes. Without it, loading the page again does.
const OFTEN = 2000;
const SELDOM = 60000;

let wait = OFTEN;
let timer = null;

function part() {
  return document.querySelector("[data-progress]");
}

async function refresh() {
  const shown = part();
  if (!shown || document.hidden) return;
  try {
    const response = await fetch(shown.dataset.progress, { headers: { Accept: "text/html" } });
    if (response.status === 404) return location.reload();
    if (!response.ok) throw new Error(String(response.status));
    show(shown, await response.text());
    wait = OFTEN;
  } catch {
    wait = Math.min(wait * 2, SELDOM);
  }
  plan();
}

function show(shown, text) {
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("#making");
  if (!fresh) throw new Error("no progress");
  if (fresh.dataset.state !== shown.dataset.state) return location.reload();
  const focused = shown.contains(document.activeElement) ? document.activeElement.outerHTML : "";
  shown.replaceWith(document.adoptNode(fresh));
  if (focused) [...fresh.querySelectorAll("a, button")].find((one) => one.outerHTML === focused)?.focus();
}

function plan() {
  clearTimeout(timer);
  if (part()) timer = setTimeout(refresh, wait);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refresh();
});
plan();
