// Keeps figures fresh while a study is open. What is fresh is written into what is there, node by node: whatever is
// open, focused, selected or scrolled stays so. Without it, loading the page again does.
const OFTEN = 10000;
const SELDOM = 120000;
const SHARE = 20; // of the time at most one in so many parts is spent on asking

let wait = OFTEN;
let timer = null;

function part() {
  return document.querySelector("[data-live]");
}

async function refresh() {
  clearTimeout(timer);
  const shown = part();
  if (!shown || document.hidden) return;
  const began = performance.now();
  try {
    const response = await fetch(shown.dataset.live, { headers: { Accept: "text/html" } });
    if (response.status === 404 || response.redirected) return;
    if (!response.ok) throw new Error(String(response.status));
    if (response.status !== 204) show(shown, await response.text());
    wait = Math.min(Math.max(OFTEN, SHARE * (performance.now() - began)), SELDOM);
  } catch {
    wait = Math.min(wait * 2, SELDOM);
  }
  plan();
}

function show(shown, text) {
  const fresh = new DOMParser().parseFromString(text, "text/html").getElementById(shown.id);
  if (!fresh) throw new Error("no figures");
  follow(shown, document.adoptNode(fresh));
}

function follow(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || old.id !== fresh.id) return old.replaceWith(fresh);
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return undefined;
  }
  followAttributes(old, fresh);
  const left = new Map([...old.children].filter((one) => one.id).map((one) => [one.id, one]));
  let place = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const known = next.id ? left.get(next.id) : null;
    if (known && known !== place) old.insertBefore(known, place);
    const here = known || place;
    if (here && (known || !here.id || here.id === next.id)) {
      place = here.nextSibling;
      follow(here, next);
    } else {
      old.insertBefore(next, here);
    }
  }
  while (place) {
    const gone = place;
    place = place.nextSibling;
    gone.remove();
  }
  return undefined;
}

function followAttributes(old, fresh) {
  for (const { name, value } of fresh.attributes) {
    if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const name of old.getAttributeNames()) {
    if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
}

function plan() {
  clearTimeout(timer);
  if (part()) timer = setTimeout(refresh, wait);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refresh();
});
plan();
