// Tells the server which was changed last, the form or the JSON, so that the other follows.
const draft = document.querySelector("[data-drafting]");

draft?.addEventListener("input", (event) => {
  if (event.target.name) draft.elements.last.value = event.target.name === "spec" ? "json" : "form";
});
