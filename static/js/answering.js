// Answers by a tap or a key, kept in the browser until the site says that they are saved. Without it, forms do.
const SECOND_TAP = 300; // milliseconds
const SOON = 1000;
const SELDOM = 15000;
const SIGN = 20000; // the time between two signs of life
const PAUSE = 180000; // a visible page without any touch, key or movement for this long is not being read

const time = { visible: 0, hidden: 0, since: performance.now(), wasVisible: !document.hidden };
let kept = null; // where storage is forbidden

const form = () => document.querySelector("[data-answering]");
const store = () => `answer-${form().dataset.answering}`;

function recall(area, name) {
  try {
    return area().getItem(name);
  } catch {
    return null;
  }
}

function remember(area, name, value) {
  try {
    if (value === null) area().removeItem(name);
    else area().setItem(name, value);
  } catch {
    // storage may be forbidden: the answer then waits on this page alone
  }
}

const local = () => localStorage;
const here = () => sessionStorage;

function unsent() {
  const text = recall(local, store());
  return text ? JSON.parse(text) : kept;
}

function keep(body) {
  kept = body;
  remember(local, store(), body && JSON.stringify(body));
}

function measure() {
  const now = performance.now();
  time[time.wasVisible ? "visible" : "hidden"] += now - time.since;
  time.since = now;
  time.wasVisible = !document.hidden;
}

// Loading a question again goes on with its time.
function keepTime() {
  if (!form()) return;
  measure();
  const { visible, hidden } = time;
  remember(here, "time", JSON.stringify({ token: form().elements.token.value, visible, hidden }));
}

function startTime() {
  const before = JSON.parse(recall(here, "time") ?? "{}");
  const isSame = before.token === form().elements.token.value;
  measure();
  time.visible = isSame ? before.visible : 0;
  time.hidden = isSame ? before.hidden : 0;
}

function disable(isOff) {
  for (const button of form().querySelectorAll("button")) button.disabled = isOff;
}

function say(text) {
  const line = document.querySelector("[data-unsent]");
  line.textContent = text;
  line.hidden = !text;
}

function submit(event) {
  if (event.target !== form()) return;
  event.preventDefault();
  const button = event.submitter;
  if (!button || unsent()) return;
  measure();
  const fields = new FormData(form());
  fields.set("visible", Math.round(time.visible));
  fields.set("idle", Math.round(time.hidden));
  fields.set(button.name, button.value);
  keep([...fields]);
  button.setAttribute("aria-pressed", "true");
  disable(true);
  remember(here, "answered", String(Date.now()));
  send(SOON);
}

async function send(wait) {
  const body = unsent();
  if (!body) return;
  let response;
  try {
    response = await fetch(form().action, {
      method: "POST",
      body: new URLSearchParams(body),
      headers: { Accept: "application/json" },
      keepalive: true,
    });
    if (response.status >= 500 || response.status === 429) throw new Error(String(response.status));
  } catch {
    say("Not saved yet: there is no connection. Your answer is kept in this browser and sent as soon as there is one.");
    setTimeout(() => send(Math.min(2 * wait, SELDOM)), wait);
    return;
  }
  keep(null);
  const reply = await response.json().catch(() => ({}));
  if (!response.ok) {
    say(reply.error ?? "That answer was refused. Reload the page.");
    disable(false);
    return;
  }
  say("");
  document.querySelector("[data-saved]").textContent = "✓ Saved";
  if (reply.page) show(reply);
  else location.replace(reply.next);
}

// The next question takes this one's place; its picture is here already.
function show(reply) {
  const place = document.querySelector("[data-item]");
  place.innerHTML = reply.page;
  remember(here, "tapped", null);
  history.replaceState(null, "", reply.next);
  scrollTo(0, 0);
  place.querySelector("h1").focus({ preventScroll: true });
  begin();
}

function fetchAhead() {
  const { ahead } = form().dataset;
  const shown = document.querySelector("[data-item] img");
  const fetchIt = () => (new Image().src = ahead);
  if (!ahead) return;
  if (!shown || shown.complete) fetchIt();
  else shown.addEventListener("load", fetchIt, { once: true });
}

// A second tap that was meant for the page before must not answer this one.
function waitForFingers() {
  const left = SECOND_TAP - (Date.now() - Number(recall(here, "answered") ?? 0));
  if (left <= 0 || left > SECOND_TAP) return;
  disable(true);
  setTimeout(() => disable(Boolean(unsent())), left);
}

function press(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.repeat || event.defaultPrevented) return;
  if (event.key === "Enter" && event.target.closest?.("a, button, summary")) return;
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  target.click();
}

// Nothing at all, and something, aren't answered together.
function keepApart(event) {
  const box = event.target;
  if (box.type !== "checkbox" || !box.checked || box.form !== form()) return;
  const isAlone = "alone" in box.dataset;
  for (const other of form().querySelectorAll("input[type=checkbox]")) {
    if (other !== box && (isAlone || "alone" in other.dataset)) other.checked = false;
  }
}

// An enlarged picture shows what was tapped, or its middle.
function tap(event) {
  const image = event.target.closest?.(".pane a")?.querySelector("img");
  if (!image) return;
  const box = image.getBoundingClientRect();
  const isByKey = event.detail === 0;
  const at = isByKey ? [0.5, 0.5] : [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  remember(here, "tapped", JSON.stringify(at));
}

function showTapped() {
  const pane = document.querySelector(".pane[tabindex]");
  if (!pane) return;
  const [x, y] = JSON.parse(recall(here, "tapped") ?? "[0.5, 0.5]");
  pane.scrollLeft = x * pane.scrollWidth - pane.clientWidth / 2;
  pane.scrollTop = y * pane.scrollHeight - pane.clientHeight / 2;
}

let touched = performance.now();

// While the page is read, its question is not given to somebody who waits.
function giveSign() {
  if (document.hidden || !form() || unsent() || performance.now() - touched > PAUSE) return;
  fetch(new URL("../here/", form().action), { method: "POST" }).catch(() => {}); // without a connection there is no sign
}

function begin() {
  startTime();
  waitForFingers();
  fetchAhead();
}

document.addEventListener("keydown", press);
document.addEventListener("click", tap);
document.addEventListener("change", keepApart);
document.addEventListener("submit", submit);
document.addEventListener("visibilitychange", measure);
document.addEventListener("visibilitychange", giveSign);
window.addEventListener("pagehide", keepTime);
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
for (const kind of ["pointerdown", "pointermove", "keydown", "scroll", "touchstart"]) {
  document.addEventListener(kind, () => (touched = performance.now()), { passive: true });
}
showTapped();
if (form()) {
  setInterval(giveSign, SIGN);
  window.addEventListener("online", () => send(SOON));
  begin();
  if (unsent()) {
    disable(true);
    send(SOON);
  }
}
