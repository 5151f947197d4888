// Plays a program: one step after the other, until its end or until somebody pauses it or steps by hand. Nothing moves
// by itself where people asked for less motion: there the button is not shown, and steps are taken one by one.
const PACE = 1800; // milliseconds between two steps
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

let isPlaying = false;
let isOwnClick = false;
let timer = null;

export function wirePlaying() {
  offer();
  STILL.addEventListener("change", offer);
  document.addEventListener("click", (event) => {
    if (event.target.closest("#play")) return isPlaying ? pause() : play();
    if (event.target.closest("#question a") && !isOwnClick) pause();
    return undefined;
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (isPlaying) plan();
    name();
  });
  for (const trouble of ["htmx:responseError", "htmx:sendError", "htmx:timeout", "visibilitychange"]) {
    document.addEventListener(trouble, pause);
  }
  name();
}

function offer() {
  if (STILL.matches) pause();
  document.documentElement.classList.toggle("can-play", !STILL.matches);
}

function play() {
  isPlaying = true;
  go(next() ?? document.getElementById("step-0"));
  name();
}

function pause() {
  isPlaying = false;
  clearTimeout(timer);
  name();
}

function plan() {
  clearTimeout(timer);
  if (next()) timer = setTimeout(() => go(next()), PACE);
  else isPlaying = false;
}

function go(link) {
  if (!link) return pause();
  isOwnClick = true;
  link.click();
  isOwnClick = false;
  return undefined;
}

function next() {
  return document.querySelector("#forward[rel=next]");
}

function name() {
  const button = document.getElementById("play");
  if (!button) return;
  const isInside = document.querySelector("#question [aria-current=step]");
  button.textContent = isPlaying ? "Pause" : !isInside ? "Play the program" : next() ? "Play on" : "Play again";
}
