// The page of layouts: cells of every operand, lit by lane, bank, register, byte, row or column, and by the lanes
// and columns of tensor memory (tlane, tcol).
(() => {
  const { data: grids, make } = page;
  const said = document.getElementById("said");
  const search = document.getElementById("search");
  const COLOURS = 32;
  let pinned = null;

  const bits = (grid, e) => grid.bits === 1 ? `bit ${e.bit}` : `bits ${e.bit} to ${e.bit + grid.bits - 1}`;

  // A kind of place: what elements are told apart by and its letter, an entry in words, and in two short ones.
  const KINDS = [
    {
      holder: "tlane",
      letter: "L",
      words: (grid, e) => (grid.ctas > 1 ? `CTA ${e.cta}, ` : "") + `tlane ${e.tlane}, tcol ${e.tcol}, ${bits(grid, e)}`,
      short: (grid, e) => [
        (grid.ctas > 1 ? `${e.cta}/` : "") + `L${e.tlane}`, `c${e.tcol}${grid.bits < 32 ? `:${e.bit}` : ""}`,
      ],
    },
    {
      holder: "bank",
      letter: "b",
      words: (grid, e) => `byte ${e.byte},` + (grid.bits < 8 ? ` ${bits(grid, e)},` : "") + ` bank ${e.bank}`,
      short: (grid, e) => [grid.bits < 8 ? `${e.byte}.${e.bit}` : `${e.byte}`, `b${e.bank}`],
    },
    {
      holder: "lane",
      letter: "T",
      words: (grid, e) => `lane ${e.lane}, item ${e.item}, register ${e.register}, ${bits(grid, e)}`,
      short: (grid, e) => [`T${e.lane}`, `r${e.register}${grid.bits < 32 ? `:${e.bit}` : ""}`],
    },
  ];

  // Entries become records, such as {row, col, lane, item, register, bit}.
  for (const grid of grids) {
    grid.kind = KINDS.find((kind) => grid.columns.includes(kind.holder));
    grid.holder = grid.kind.holder;
    grid.ctas = 1;
    grid.cells = new Map();
    for (const entry of grid.entries) {
      const record = Object.fromEntries(grid.columns.map((name, k) => [name, entry[k]]));
      const key = record.row * grid.cols + record.col;
      if (!grid.cells.has(key)) grid.cells.set(key, []);
      grid.cells.get(key).push(record);
      if (record.cta) grid.ctas = 2;
    }
  }

  const words = (grid, e) => `${grid.operand}: row ${e.row}, column ${e.col}: ${grid.kind.words(grid, e)}`;

  function draw(grid) {
    const section = make("section");
    section.append(make("h2", {}, `${grid.operand}: ${grid.name}`), make("p", { class: "faint" }, grid.legend));
    const group = { class: "holders", role: "group", "aria-label": `${grid.holder}s of ${grid.operand}` };
    const holders = make("div", group);
    const known = new Set(grid.entries.map((entry) => entry[grid.columns.indexOf(grid.holder)]));
    for (const number of [...known].sort((a, b) => a - b)) {
      const text = grid.kind.letter + number;
      const name = `${grid.holder} ${number}`;
      const button = make("button", { type: "button", class: `l${number % COLOURS}`, "aria-label": name }, text);
      button.dataset.holder = name;
      holders.append(button);
    }
    const named = `${grid.operand}, ${grid.rows} rows, ${grid.cols} columns`;
    const table = make("table", { role: "grid", "aria-label": named });
    const head = table.createTHead().insertRow();
    head.append(make("td", { class: "empty" }));
    for (let col = 0; col < grid.cols; col++) head.append(make("th", { scope: "col" }, String(col)));
    const body = table.createTBody();
    grid.drawn = new Map();
    for (let row = 0; row < grid.rows; row++) {
      const line = body.insertRow();
      line.append(make("th", { scope: "row" }, String(row)));
      for (let col = 0; col < grid.cols; col++) {
        const key = row * grid.cols + col;
        const held = grid.cells.get(key) || [];
        const cell = line.insertCell();
        cell.tabIndex = -1;
        cell.dataset.key = key;
        if (held.length === 0) { cell.className = "empty"; continue; }
        const [first, second] = grid.kind.short(grid, held[0]);
        cell.className = `l${held[0][grid.holder] % COLOURS}`;
        cell.setAttribute("aria-label", held.map((e) => words(grid, e)).join("; "));
        cell.append(first, make("small", {}, second + (held.length > 1 ? ` +${held.length - 1}` : "")));
        grid.drawn.set(key, cell);
      }
    }
    const start = table.querySelector("tbody td");
    if (start) start.tabIndex = 0;
    const scroll = make("div", { class: "scroll" });
    scroll.append(table);
    section.append(holders, scroll);
    table.grid = grid;
    grid.table = table;
    document.getElementById("grids").append(section);
  }

  // What is lit: all elements with an entry that passes, in every grid that passes.
  function light(passes, at = null) {
    document.body.classList.toggle("choosing", passes !== null);
    let count = 0;
    for (const grid of grids) {
      for (const [key, cell] of grid.drawn) {
        const lit = passes !== null && grid.cells.get(key).some((e) => passes(grid, e));
        cell.classList.toggle("lit", lit);
        cell.classList.toggle("at", cell === at);
        count += lit;
      }
    }
    return count;
  }

  const byHolder = (name, number) => (grid, e) => grid.holder === name && e[name] === number;

  // "T5", "lane 5", "r1", "register 1", "item 3", "bank 7", "b7", "byte 128", "row 3", "column 4", "3,4", "tlane 9",
  // "L9", "tcol 2", "c2", "cta 1"; or several of them, all of which must hold.
  const SHORT = { t: "lane", l: "tlane", c: "tcol", r: "register", i: "item", b: "bank", column: "col" };
  const NAMES = ["row", "col", "lane", "item", "register", "bit", "byte", "bank", "cta", "tlane", "tcol"];
  function query(text) {
    const wanted = [];
    let rest = text.trim().toLowerCase();
    const pair = /^\(?\s*(\d+)\s*,\s*(\d+)\s*\)?$/.exec(rest);
    if (pair) return (_, e) => e.row === Number(pair[1]) && e.col === Number(pair[2]);
    while (rest) {
      const found = /^([a-z]+)\s*(\d+)[\s,]*/.exec(rest);
      if (!found) return undefined;
      const name = SHORT[found[1]] || found[1];
      if (!NAMES.includes(name)) return undefined;
      wanted.push([name, Number(found[2])]);
      rest = rest.slice(found[0].length);
    }
    if (wanted.length === 0) return null;
    return (_, e) => wanted.every(([name, number]) => e[name] === number);
  }

  function searched() {
    const passes = query(search.value);
    pinned = passes || null;
    const count = light(pinned);
    if (passes === undefined) said.textContent = "Search for such as: T5, lane 5 r1, row 3, 3,4, bank 7, byte 128, tlane 9.";
    else said.textContent = passes === null ? "" : `${count} element${count === 1 ? "" : "s"}`;
  }

  function show(cell) {
    const grid = cell.closest("table").grid;
    const held = grid.cells.get(Number(cell.dataset.key));
    if (!held) return;
    said.textContent = held.map((e) => words(grid, e)).join("\n");
    light(byHolder(grid.holder, held[0][grid.holder]), cell);
  }

  function showHolder(button) {
    const [name, number] = button.dataset.holder.split(" ");
    const passes = byHolder(name, Number(number));
    const count = light(passes);
    said.textContent = `${name} ${number}: ${count} element${count === 1 ? "" : "s"}`;
    return passes;
  }

  const cellOf = (event) => event.target.closest("tbody td[data-key]");
  const holderOf = (event) => event.target.closest("button[data-holder]");

  function settle() {
    light(pinned);
    if (pinned === null) said.textContent = "";
  }

  function pick(event) {
    const cell = cellOf(event), button = holderOf(event);
    if (cell) show(cell);
    else if (button) showHolder(button);
    return cell || button;
  }

  function move(cell, key) {
    const grid = cell.closest("table").grid;
    const at = Number(cell.dataset.key);
    let row = Math.floor(at / grid.cols), col = at % grid.cols;
    if (key === "ArrowLeft") col -= 1;
    else if (key === "ArrowRight") col += 1;
    else if (key === "ArrowUp") row -= 1;
    else if (key === "ArrowDown") row += 1;
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
  area.addEventListener("mouseover", pick);
  area.addEventListener("focusin", pick);
  area.addEventListener("mouseleave", settle);
  area.addEventListener("click", (event) => {
    const cell = cellOf(event), button = holderOf(event);
    if (button) pinned = showHolder(button);
    else if (cell) {
      const grid = cell.closest("table").grid;
      const held = grid.cells.get(Number(cell.dataset.key));
      if (held) pinned = byHolder(grid.holder, held[0][grid.holder]);
      show(cell);
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      pinned = null;
      search.value = "";
      settle();
    } else if (event.key === "/" && event.target !== search) {
      search.focus();
      event.preventDefault();
    } else {
      const cell = cellOf(event);
      if (cell && move(cell, event.key)) event.preventDefault();
    }
  });
  search.addEventListener("input", searched);
  const wanted = location.hash.slice(1).replaceAll("%20", " ");
  if (wanted) {
    search.value = wanted;
    searched();
  }
})();
