// Shows the hint above a wide table while the table has more columns than fit beside one another.
for (const hint of document.querySelectorAll(".scroll-hint")) {
  const table = hint.nextElementSibling;
  const look = () => { hint.hidden = table.scrollWidth <= table.clientWidth + 1; };
  new ResizeObserver(look).observe(table);
  look();
}
