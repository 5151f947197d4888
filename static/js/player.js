// One question: keys, and the whole screen. Links bring the next step or question without a new page (htmx).
import { wireKeys } from "./keys.js";
import { wirePlaying } from "./playing.js";
import { wireRefusals } from "./refusals.js";

const WAITING_AT_MOST = 30;
const waiting = [];
let isBusy = false;

keepKeysPressedMeanwhile();
wireKeys();
wirePlaying();
wireRefusals();
wireFullScreen();
showLines();
document.addEventListener("htmx:afterSettle", showLines);

// Of a long story those lines are in sight that a step points at; the page itself stays where it is.
function showLines() {
  const box = document.getElementById("story");
  const lines = box?.querySelectorAll(".pointed");
  if (!lines?.length) return;
  const top = (line) => line.offsetTop - box.offsetTop;
  const last = lines[lines.length - 1];
  if (top(last) + last.offsetHeight <= box.scrollTop + box.clientHeight && top(lines[0]) >= box.scrollTop) return;
  box.scrollTop = Math.max(0, top(last) + last.offsetHeight - box.clientHeight + 8);
}

// A key pressed while a step is on its way counts for the step that is coming.
function keepKeysPressedMeanwhile() {
  document.addEventListener("keydown", (event) => {
    if (!isBusy || !event.key.startsWith("Arrow") || event.target.closest?.("input")) return;
    event.preventDefault();
    if (waiting.length < WAITING_AT_MOST) waiting.push(event.key);
  });
  document.addEventListener("htmx:beforeRequest", () => (isBusy = true));
  document.addEventListener("htmx:afterSettle", goOn);
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) document.addEventListener(name, stop);
}

function goOn() {
  isBusy = false;
  const key = waiting.shift();
  if (key) document.querySelector(`#question [data-key="${key}"]`)?.click();
}

function stop() {
  isBusy = false;
  waiting.length = 0;
}

function wireFullScreen() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-present]");
    if (!link) return;
    if (link.dataset.present === "on") document.documentElement.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) document.exitFullscreen();
  });
  document.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement) document.querySelector("[data-present=off]")?.click();
  });
}
