// Layout page: highlights cells of all operands by lane, bank, register, byte, row, column, or lane and column of
// tensor memory (tlane, tcol).
(() => {
  const { data: grids, make } = page;
  const status = document.getElementById("status");
  const search = document.getElementById("search");
  const COLOURS = 32;
  let pinned = null; // the predicate of the selection that a click or a search keeps

  const bits = (grid, e) => grid.bits === 1 ? `bit ${e.bit}` : `bits ${e.bit} to ${e.bit + grid.bits - 1}`;
  const count = (number) => `${number} element${number === 1 ? "" : "s"}`;

  // Kinds of memory: the column that colours distinguish, its letter, an entry in words, and its two short words.
  const MEMORIES = [
    {
      owner: "tlane",
      letter: "L",
      words: (grid, e) => (grid.ctas > 1 ? `CTA ${e.cta}, ` : "") + `tlane ${e.tlane}, tcol ${e.tcol}, ${bits(grid, e)}`,
      label: (grid, e) => [
        (grid.ctas > 1 ? `${e.cta}/` : "") + `L${e.tlane}`, `c${e.tcol}${grid.bits < 32 ? `:${e.bit}` : ""}`,
      ],
    },
    {
      owner: "bank",
      letter: "b",
      words: (grid, e) => `byte ${e.byte},` + (grid.bits < 8 ? ` ${bits(grid, e)},` : "") + ` bank ${e.bank}`,
      label: (grid, e) => [grid.bits < 8 ? `${e.byte}.${e.bit}` : `${e.byte}`, `b${e.bank}`],
    },
    {
      owner: "lane",
      letter: "T",
      words: (grid, e) => `lane ${e.lane}, item ${e.item}, register ${e.register}, ${bits(grid, e)}`,
      label: (grid, e) => [`T${e.lane}`, `r${e.register}${grid.bits < 32 ? `:${e.bit}` : ""}`],
    },
  ];

  // Entries become records, such as {row, col, lane, item, register, bit}.
  for (const grid of grids) {
    grid.memory = MEMORIES.find((memory) => grid.columns.includes(memory.owner));
    grid.owner = grid.memory.owner;
    grid.ctas = 1;
    grid.records = new Map();
    for (const entry of grid.entries) {
      const record = Object.fromEntries(grid.columns.map((name, k) => [name, entry[k]]));
      const key = record.row * grid.cols + record.col;
      if (!grid.records.has(key)) grid.records.set(key, []);
      grid.records.get(key).push(record);
      if (record.cta) grid.ctas = 2;
    }
  }

  const describe = (grid, e) => `${grid.operand}: row ${e.row}, column ${e.col}: ${grid.memory.words(grid, e)}`;

  function draw(grid) {
    const section = make("section");
    section.append(make("h2", {}, `${grid.operand}: ${grid.name}`), make("p", { class: "faint" }, grid.legend));
    const buttons = make("div", { class: "owners", role: "group", "aria-label": `${grid.owner}s of ${grid.operand}` });
    const known = new Set(grid.entries.map((entry) => entry[grid.columns.indexOf(grid.owner)]));
    for (const number of [...known].sort((a, b) => a - b)) {
      const name = `${grid.owner} ${number}`;
      const attributes = { type: "button", class: `l${number % COLOURS}`, "aria-label": name };
      const button = make("button", attributes, grid.memory.letter + number);
      button.dataset.owner = name;
      buttons.append(button);
    }
    const label = `${grid.operand}, ${grid.rows} rows, ${grid.cols} columns`;
    const table = make("table", { role: "grid", "aria-label": label });
    const head = table.createTHead().insertRow();
    head.append(make("td", { class: "empty" }));
    for (let col = 0; col < grid.cols; col++) head.append(make("th", { scope: "col" }, String(col)));
    const body = table.createTBody();
    grid.cells = new Map();
    for (let row = 0; row < grid.rows; row++) {
      const line = body.insertRow();
      line.append(make("th", { scope: "row" }, String(row)));
      for (let col = 0; col < grid.cols; col++) {
        const key = row * grid.cols + col;
        const records = grid.records.get(key) || [];
        const cell = line.insertCell();
        cell.tabIndex = -1;
        cell.dataset.key = key;
        if (records.length === 0) { cell.className = "empty"; continue; }
        const [first, second] = grid.memory.label(grid, records[0]);
        cell.className = `l${records[0][grid.owner] % COLOURS}`;
        cell.setAttribute("aria-label", records.map((e) => describe(grid, e)).join("; "));
        cell.append(first, make("small", {}, second + (records.length > 1 ? ` +${records.length - 1}` : "")));
        grid.cells.set(key, cell);
      }
    }
    const start = table.querySelector("tbody td");
    if (start) start.tabIndex = 0;
    const scroll = make("div", { class: "scroll" });
    scroll.append(table);
    section.append(buttons, scroll);
    table.grid = grid;
    grid.table = table;
    document.getElementById("grids").append(section);
  }

  // Highlight all elements with an entry that satisfies a predicate; null clears the highlight. Returns their number.
  function highlight(predicate, current = null) {
    document.body.classList.toggle("selecting", predicate !== null);
    let number = 0;
    for (const grid of grids) {
      for (const [key, cell] of grid.cells) {
        const selected = predicate !== null && grid.records.get(key).some((e) => predicate(grid, e));
        cell.classList.toggle("selected", selected);
        cell.classList.toggle("current", cell === current);
        number += selected;
      }
    }
    return number;
  }

  const ownedBy = (name, number) => (grid, e) => grid.owner === name && e[name] === number;

  // A query such as "T5", "lane 5 r1", "bank 7", "byte 128", "3,4" or "tlane 9": all of its terms must hold. Returns a
  // predicate, null for an empty text, and undefined for an invalid one.
  const SHORT = { t: "lane", l: "tlane", c: "tcol", r: "register", i: "item", b: "bank", column: "col" };
  const NAMES = ["row", "col", "lane", "item", "register", "bit", "byte", "bank", "cta", "tlane", "tcol"];
  function parseQuery(text) {
    const terms = [];
    let rest = text.trim().toLowerCase();
    const pair = /^\(?\s*(\d+)\s*,\s*(\d+)\s*\)?$/.exec(rest);
    if (pair) return (_, e) => e.row === Number(pair[1]) && e.col === Number(pair[2]);
    while (rest) {
      const found = /^([a-z]+)\s*(\d+)[\s,]*/.exec(rest);
      if (!found) return undefined;
      const name = SHORT[found[1]] || found[1];
      if (!NAMES.includes(name)) return undefined;
      terms.push([name, Number(found[2])]);
      rest = rest.slice(found[0].length);
    }
    if (terms.length === 0) return null;
    return (_, e) => terms.every(([name, number]) => e[name] === number);
  }

  function runSearch() {
    const predicate = parseQuery(search.value);
    pinned = predicate || null;
    const number = highlight(pinned);
    if (predicate === undefined) status.textContent = "Examples: T5, lane 5 r1, row 3, 3,4, bank 7, byte 128, tlane 9.";
    else status.textContent = predicate === null ? "" : count(number);
  }

  function showCell(cell) {
    const grid = cell.closest("table").grid;
    const records = grid.records.get(Number(cell.dataset.key));
    if (!records) return null;
    const predicate = ownedBy(grid.owner, records[0][grid.owner]);
    status.textContent = records.map((e) => describe(grid, e)).join("\n");
    highlight(predicate, cell);
    return predicate;
  }

  function showOwner(button) {
    const [name, number] = button.dataset.owner.split(" ");
    const predicate = ownedBy(name, Number(number));
    status.textContent = `${name} ${number}: ${count(highlight(predicate))}`;
    return predicate;
  }

  // Show the cell or the owner at an event, and return its predicate.
  function show(event) {
    const cell = event.target.closest("tbody td[data-key]"), button = event.target.closest("button[data-owner]");
    return cell ? showCell(cell) : button ? showOwner(button) : null;
  }

  function restore() {
    highlight(pinned);
    if (pinned === null) status.textContent = "";
  }

  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  function move(cell, key) {
    const grid = cell.closest("table").grid;
    const at = Number(cell.dataset.key);
    let row = Math.floor(at / grid.cols), col = at % grid.cols;
    if (key in STEPS) [row, col] = [row + STEPS[key][0], col + STEPS[key][1]];
    else if (key === "Home") col = 0;
    else if (key === "End") col = grid.cols - 1;
    else return false;
    if (row < 0 || col < 0 || row >= grid.rows || col >= grid.cols) return true;
    const next = grid.table.tBodies[0].rows[row].cells[col + 1];
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    return true;
  }

  grids.forEach(draw);
  const area = document.getElementById("grids");
  area.addEventListener("mouseover", show);
  area.addEventListener("focusin", show);
  area.addEventListener("mouseleave", restore);
  area.addEventListener("click", (event) => { pinned = show(event) || pinned; });
  document.addEventListener("keydown", (event) => {
    const cell = event.target.closest("tbody td[data-key]");
    if (event.key === "Escape") {
      pinned = null;
      search.value = "";
      restore();
    } else if (event.key === "/" && event.target !== search) {
      search.focus();
      event.preventDefault();
    } else if (cell && move(cell, event.key)) event.preventDefault();
  });
  search.addEventListener("input", runSearch);
  const fragment = location.hash.slice(1).replaceAll("%20", " ");
  if (fragment) {
    search.value = fragment;
    runSearch();
  }
})();
