// A button on each block of code that copies it.
export function addCopyButtons(root) {
  for (const block of root.querySelectorAll("pre")) {
    if (block.parentElement.querySelector(":scope > .copy") || !navigator.clipboard) continue;
    const frame = block.closest(".code") ?? wrap(block);
    frame.append(button(block));
  }
}

function wrap(block) {
  const frame = document.createElement("figure");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block);
  return frame;
}

function button(block) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "copy";
  made.textContent = "Copy";
  made.addEventListener("click", async () => {
    await navigator.clipboard.writeText(withoutPrompts(block));
    made.textContent = "Copied";
    setTimeout(() => (made.textContent = "Copy"), 1500);
  });
  return made;
}

function withoutPrompts(block) {
  const lines = block.textContent.trimEnd().split("\n");
  const commands = lines.filter((line) => line.startsWith("$ "));
  return commands.length ? commands.map((line) => line.slice(2)).join("\n") : lines.join("\n");
}
