// Timeline of a report: events of a trace on tracks. The canvas has the size of the visible part and stays in place
// while its rows scroll.
(() => {
  const trace = page.data.timeline;
  const canvas = document.getElementById("tracks");
  if (trace === null || canvas === null) return;
  const status = document.getElementById("status");
  const context = canvas.getContext("2d");
  const whole = canvas.parentElement, scroller = whole.parentElement;
  const { unit, categories, begin, end, category, track, strings } = trace;
  const GUTTER = 150, AXIS = 22, ROW = 20, BAR = 16, NEAR = 4, MIN_TEXT = 20;
  const MARKS = new Set(["issue", "arrival"]);
  const last = end.reduce((most, time) => Math.max(most, time), unit);
  const minSpan = unit / 4; // the shortest visible time

  // Rows from top to bottom: the tracks, with a heading for each CTA if there are several.
  const rows = [];
  const rowOf = [];
  trace.tracks.forEach(([cta, , name], number) => {
    const isNew = number === 0 || trace.tracks[number - 1][0] !== cta;
    if (isNew && trace.ctas.length > 1) rows.push({ heading: trace.ctas[cta] });
    rowOf.push(rows.length);
    rows.push({ name, cta, events: [] });
  });
  track.forEach((number, k) => rows[rowOf[number]].events.push(k));
  for (const row of rows) {
    // An event comes after the event that contains it.
    if (row.events) row.events.sort((a, b) => begin[a] - begin[b] || end[b] - end[a]);
  }
  const isMark = (k) => MARKS.has(categories[category[k]]);

  const view = { from: 0, to: last };
  let hovered = null; // the event under the pointer
  let selected = null; // the event that a click or a key selected
  let width = 0, height = 0, colours = {}, hatch = null;

  const across = () => Math.max(1, width - GUTTER);
  const x = (time) => GUTTER + ((time - view.from) / (view.to - view.from)) * across();
  const time = (place) => view.from + ((place - GUTTER) / across()) * (view.to - view.from);
  const top = (row) => AXIS + row * ROW - scroller.scrollTop;

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of [...categories, "ground", "ink", "faint", "line", "mark", "edge", "row"]) {
      colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    pen.fillStyle = colours.wait;
    pen.fillRect(0, 0, 6, 6);
    pen.strokeStyle = colours.edge;
    pen.lineWidth = 0.7;
    pen.beginPath();
    for (const shift of [-6, 0, 6]) { pen.moveTo(shift, 6); pen.lineTo(shift + 6, 0); }
    pen.stroke();
    hatch = context.createPattern(tile, "repeat");
  }

  function resize() {
    whole.style.height = `${AXIS + rows.length * ROW}px`;
    width = scroller.clientWidth;
    height = scroller.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw();
  }

  // Drawing ---------------------------------------------------------------------------------------------------

  function draw() {
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, width, height);
    drawAxis();
    context.save();
    clip(0);
    rows.forEach((row, number) => {
      const y = top(number);
      if (y + ROW < AXIS || y > height) return;
      context.fillStyle = row.heading ? colours.ink : colours.faint;
      context.fillText(row.heading || row.name, row.heading ? 4 : 12, y + ROW / 2);
      if (row.events) drawRow(row, y);
    });
    clip(GUTTER);
    for (const k of new Set([selected, hovered])) if (k !== null) drawSelection(k);
    context.restore();
  }

  function clip(left) {
    context.beginPath();
    context.rect(left, AXIS, width - left, height - AXIS);
    context.clip();
  }

  function drawAxis() {
    const steps = (view.to - view.from) / unit;
    const rough = steps / Math.max(2, across() / 90);
    const power = 10 ** Math.floor(Math.log10(rough));
    const apart = Math.max(1, [1, 2, 5, 10].find((each) => each * power >= rough) * power);
    context.strokeStyle = colours.line;
    context.fillStyle = colours.faint;
    context.lineWidth = 1;
    context.beginPath();
    for (let step = Math.ceil(view.from / unit / apart) * apart; step * unit <= view.to; step += apart) {
      const place = Math.round(x(step * unit)) + 0.5;
      context.moveTo(place, AXIS - 4);
      context.lineTo(place, height);
      context.fillText(step.toLocaleString("en"), place + 3, AXIS / 2);
    }
    context.stroke();
    context.fillText("step", 12, AXIS / 2);
  }

  function drawRow(row, y) {
    context.save();
    context.beginPath();
    context.rect(GUTTER, y, across(), ROW);
    context.clip();
    const drawn = {};
    for (const k of row.events) {
      if (begin[k] > view.to) break;
      if (end[k] < view.from) continue;
      const name = categories[category[k]];
      const left = x(begin[k]), right = Math.max(left + 1, x(end[k]));
      if (right <= (drawn[name] ?? -1)) continue; // hidden by an earlier event
      drawn[name] = right;
      drawEvent(k, name, left, right, y + 2);
    }
    context.restore();
  }

  function drawEvent(k, name, left, right, y) {
    context.fillStyle = name === "wait" ? hatch : colours[name];
    if (name === "issue") {
      context.fillRect(left, y + BAR - 5, Math.max(2, right - left), 5);
      return;
    }
    if (name === "arrival") {
      const middle = (left + right) / 2;
      context.beginPath();
      context.moveTo(middle - 4, y + BAR);
      context.lineTo(middle + 4, y + BAR);
      context.lineTo(middle, y + BAR - 7);
      context.fill();
      return;
    }
    context.fillRect(left, y, right - left, BAR);
    if (right - left < 3) return;
    context.strokeStyle = colours.edge;
    context.lineWidth = 0.5;
    context.strokeRect(left + 0.25, y + 0.25, right - left - 0.5, BAR - 0.5);
    const seen = Math.max(left, GUTTER);
    const text = fitText(strings[trace.name[k]], Math.min(right, width) - seen - 6);
    if (!text) return;
    if (name === "wait") {
      context.fillStyle = colours.wait;
      context.fillRect(seen + 2, y + 2, textWidth(text) + 2, BAR - 4);
    }
    context.fillStyle = colours.ink;
    context.fillText(text, seen + 3, y + BAR / 2);
  }

  const widths = new Map();
  function textWidth(text) {
    if (!widths.has(text)) widths.set(text, context.measureText(text).width);
    return widths.get(text);
  }

  // Return the part of a text that fits a width, "" if only few letters fit.
  function fitText(text, space) {
    if (space < MIN_TEXT) return "";
    if (textWidth(text) <= space) return text;
    let letters = Math.ceil((text.length * space) / textWidth(text));
    while (letters > 1 && textWidth(`${text.slice(0, letters)}…`) > space) letters -= 1;
    return `${text.slice(0, letters)}…`;
  }

  const middle = (k) => top(rowOf[track[k]]) + ROW / 2;

  function drawSelection(k) {
    context.strokeStyle = colours.mark;
    context.lineWidth = 1.5;
    for (const [source, target] of trace.arrows) {
      if (source !== k && target !== k) continue;
      const isFlight = !isMark(target) && categories[category[target]] !== "wait";
      const from = x(categories[category[source]] === "wait" ? begin[source] : end[source]);
      const to = x(isFlight ? begin[target] : end[target]);
      const bend = Math.max(12, Math.abs(to - from) / 3);
      context.beginPath();
      context.moveTo(from, middle(source));
      context.bezierCurveTo(from + bend, middle(source), to - bend, middle(target), to, middle(target));
      context.stroke();
      context.fillStyle = colours.mark;
      context.beginPath();
      context.moveTo(to, middle(target));
      context.lineTo(to - 6, middle(target) - 3);
      context.lineTo(to - 6, middle(target) + 3);
      context.fill();
    }
    const left = x(begin[k]);
    context.lineWidth = 2;
    context.strokeRect(left - 1, top(rowOf[track[k]]) + 1, Math.max(2, x(end[k]) - left) + 2, ROW - 2);
  }

  // Selection ------------------------------------------------------------------------------------------------

  function describe(k) {
    const row = rows[rowOf[track[k]]];
    const where = trace.ctas.length > 1 ? `${trace.ctas[row.cta]}, ${row.name}` : row.name;
    const first = Math.floor(begin[k] / unit), after = Math.ceil(end[k] / unit);
    const steps = after - first > 1 ? `steps ${first} to ${after - 1}` : `step ${first}`;
    return `${where}: ${strings[trace.name[k]]}\n${steps}; ${strings[trace.details[k]]}`;
  }

  function find(place, y) {
    const row = rows[Math.floor((y - top(0)) / ROW)];
    if (!row || !row.events || place < GUTTER || y < AXIS) return null;
    const slack = (NEAR / across()) * (view.to - view.from), when = time(place);
    let best = null;
    for (const k of row.events) {
      if (begin[k] > when + slack) break;
      if (end[k] < when - slack) continue;
      // The shortest event, so that a mark comes before the event that contains it.
      if (best === null || end[k] - begin[k] <= end[best] - begin[best]) best = k;
    }
    return best;
  }

  function show(k) {
    hovered = k;
    const described = k === null ? selected : k;
    status.textContent = described === null ? "" : describe(described);
    draw();
  }

  function select(k) {
    selected = k;
    show(k);
  }

  const goToLine = (k) => page.goTo(trace.line[k]);

  // Zooming and panning ---------------------------------------------------------------------------------------

  function setView(from, to) {
    const span = Math.min(Math.max(to - from, minSpan), last);
    view.from = Math.min(Math.max(from, 0), last - span);
    view.to = view.from + span;
    draw();
  }

  function zoom(factor, around) {
    const span = (view.to - view.from) * factor;
    const share = (around - view.from) / (view.to - view.from);
    setView(around - share * span, around - share * span + span);
  }

  const pan = (share) => setView(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
  const centre = () => {
    const k = selected;
    if (k !== null && begin[k] <= view.to && end[k] >= view.from) return (begin[k] + end[k]) / 2;
    return (view.from + view.to) / 2;
  };

  function reveal(k) {
    const span = view.to - view.from;
    if (end[k] < view.from || begin[k] > view.to) setView(begin[k] - span / 3, begin[k] + (2 * span) / 3);
    const y = top(rowOf[track[k]]);
    if (y < AXIS) scroller.scrollTop += y - AXIS;
    else if (y + ROW > height) scroller.scrollTop += y + ROW - height;
    select(k);
  }

  function inTrack(k, step) {
    const events = rows[rowOf[track[k]]].events;
    return events[Math.min(Math.max(events.indexOf(k) + step, 0), events.length - 1)];
  }

  function inNextTrack(k, step) {
    for (let number = rowOf[track[k]] + step; number >= 0 && number < rows.length; number += step) {
      const events = rows[number].events;
      if (!events || events.length === 0) continue;
      const distance = (other) => Math.max(begin[other] - end[k], begin[k] - end[other], 0);
      return events.reduce((best, other) => (distance(other) < distance(best) ? other : best));
    }
    return k;
  }

  const first = () => rows.find((row) => row.events && row.events.length).events[0];
  const KEYS = {
    ArrowRight: (k) => inTrack(k, 1),
    ArrowLeft: (k) => inTrack(k, -1),
    ArrowDown: (k) => inNextTrack(k, 1),
    ArrowUp: (k) => inNextTrack(k, -1),
    Home: (k) => inTrack(k, -Infinity),
    End: (k) => inTrack(k, Infinity),
  };

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.shiftKey && event.key === "ArrowRight") pan(0.25);
    else if (event.shiftKey && event.key === "ArrowLeft") pan(-0.25);
    else if (event.key in KEYS) reveal(selected === null ? first() : KEYS[event.key](selected));
    else if (event.key === "+" || event.key === "=") zoom(0.5, centre());
    else if (event.key === "-") zoom(2, centre());
    else if (event.key === "0") setView(0, last);
    else if (event.key === "Escape") select(null);
    else if ((event.key === "Enter" || event.key === " ") && selected !== null) goToLine(selected);
    else return;
    event.preventDefault();
  }

  let drag = null; // the start of a drag
  canvas.addEventListener("keydown", onKey);
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.offsetX, from: view.from, moved: false }; });
  canvas.addEventListener("pointermove", (event) => {
    if (drag !== null && event.buttons & 1) {
      const shift = ((drag.x - event.offsetX) / across()) * (view.to - view.from);
      drag.moved = drag.moved || Math.abs(drag.x - event.offsetX) > NEAR;
      if (drag.moved) setView(drag.from + shift, drag.from + shift + view.to - view.from);
      return;
    }
    const k = find(event.offsetX, event.offsetY);
    if (k !== hovered) show(k);
  });
  canvas.addEventListener("pointerleave", () => show(null));
  canvas.addEventListener("click", (event) => {
    const wasDrag = drag !== null && drag.moved;
    drag = null;
    const k = find(event.offsetX, event.offsetY);
    if (wasDrag) return;
    select(k);
    if (k !== null) goToLine(k);
  });
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, time(Math.max(event.offsetX, GUTTER)));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      pan((event.deltaX || event.deltaY) / across());
    } else return;
    event.preventDefault();
  }, { passive: false });
  document.getElementById("zoom-in").addEventListener("click", () => zoom(0.5, centre()));
  document.getElementById("zoom-out").addEventListener("click", () => zoom(2, centre()));
  document.getElementById("show-all").addEventListener("click", () => setView(0, last));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
  scroller.addEventListener("scroll", draw);
  new ResizeObserver(() => {
    if (scroller.clientWidth !== width || scroller.clientHeight !== height) resize();
  }).observe(scroller);
  readColours();
  resize();
})();
