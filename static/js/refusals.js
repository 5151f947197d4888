// What a request without a new page gets refused is shown as the page that it is.
export function wireRefusals() {
  document.addEventListener("htmx:responseError", (event) => {
    location.assign(event.detail.pathInfo.requestPath);
  });
}
