// Listing of a report: blank lines can be hidden, and the timeline can show a line.
page.goTo = (line) => {
  const row = document.getElementById(`L${line}`);
  if (row === null) return;
  location.hash = `L${line}`;
  row.scrollIntoView({ block: "center" });
  row.focus({ preventScroll: true });
};
(() => {
  const lines = document.getElementById("lines");
  const filler = document.getElementById("filler");
  const fold = () => lines.classList.toggle("folded", !filler.checked);
  filler.addEventListener("change", fold);
  fold();
})();
