// The listing of a report: lines fold away, and the timeline goes to one.
page.goTo = (line) => {
  const row = document.getElementById(`L${line}`);
  if (row === null) return;
  location.hash = `L${line}`;
  row.scrollIntoView({ block: "center" });
  row.focus({ preventScroll: true });
};
(() => {
  const lines = document.getElementById("lines");
  const plain = document.getElementById("plain");
  const fold = () => lines.classList.toggle("folded", !plain.checked);
  plain.addEventListener("change", fold);
  fold();
})();
