// The page of the playground. It evaluates nothing of the text: a worker with Python checks and runs it.

"use strict";

const LIMIT = 30; // seconds of a command
const byId = (id) => document.getElementById(id);
const [state, verdict, ptx, launch] = ["state", "verdict", "ptx", "launch"].map(byId);
const buttons = ["check", "run", "layout"].map(byId);
let files = null;
let worker = null;
let timer = 0;
let shown = null; // the kind of the last command

async function unpack(text) {
  const packed = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function text_of(name) {
  return new TextDecoder().decode(files[name]);
}

function create(tag, content, ...classes) {
  const element = document.createElement(tag);
  element.textContent = content;
  element.classList.add(...classes);
  return element;
}

function tell(name, text) {
  state.dataset.name = name;
  state.textContent = text;
}

// Worker ---------------------------------------------------------------------------------------------------------

function start() {
  const scripts = ["pyodide.js", "pyodide.asm.js", "worker.js"].map((name) => [files[name], "\n"]).flat();
  const url = URL.createObjectURL(new Blob(scripts, { type: "text/javascript" }));
  worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.onmessage = ({ data }) => receive(data);
  worker.onerror = (event) => receive({ error: event.message });
  const needed = ["pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "packages.zip"];
  worker.postMessage({ files: Object.fromEntries(needed.map((name) => [name, files[name]])) });
}

function receive(data) {
  clearTimeout(timer);
  byId("stop").disabled = true;
  if (data.error) {
    tell("failed", "failed");
    verdict.textContent = data.error;
    verdict.className = "bad";
    return;
  }
  for (const button of buttons) button.disabled = false;
  if (data.ready) {
    tell("ready", `ready after ${(performance.now() / 1000).toFixed(1)} s`);
  } else {
    tell("ready", "ready");
    show(JSON.parse(data.answer));
  }
}

function send(kind, ...values) {
  for (const button of buttons) button.disabled = true;
  byId("stop").disabled = false;
  tell("busy", `${kind} …`);
  verdict.textContent = "";
  verdict.className = "";
  byId("diagnostics").replaceChildren();
  byId("result").replaceChildren();
  shown = { kind };
  timer = setTimeout(() => stop(`stopped after ${LIMIT} s, the limit of this page`), LIMIT * 1000);
  worker.postMessage({ command: [kind, ...values] });
}

function stop(why) {
  clearTimeout(timer);
  worker.terminate();
  byId("stop").disabled = true;
  verdict.textContent = why;
  verdict.className = "bad";
  tell("loading", "loading …");
  start();
}

// Results --------------------------------------------------------------------------------------------------------

function show(found) {
  const errors = found.diagnostics.filter((each) => each.severity === "error").length;
  const others = found.diagnostics.length - errors;
  byId("diagnostics").replaceChildren(...found.diagnostics.map(diagnostic));
  const counted = [errors && `${errors} error${errors > 1 ? "s" : ""}`, others && `${others} other`].filter(Boolean);
  const words = [];
  if (shown.kind === "check") words.push(counted.length ? "" : `no errors in ${found.lines} lines`);
  if (found.refused) words.push(shown.kind === "run" ? "not run" : "");
  if (found.comparison) words.push(found.comparison);
  if (found.ctas && !found.comparison) words.push(found.failed ? "failed" : `ran ${found.ctas} CTAs`);
  if (found.instruction) words.push(found.instruction);
  words.push(...counted, `${found.seconds.toFixed(2)} s`);
  verdict.textContent = words.filter(Boolean).join(" · ");
  verdict.className = errors || found.failed || found.refused ? "bad" : "good";
  const result = byId("result");
  if (found.output) result.append(create("h2", "Output of the kernel"), create("pre", found.output));
  if (found.buffers) result.append(...buffers(found));
  for (const { operand, svg } of found.pictures ?? []) {
    const picture = document.createElement("img");
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    picture.alt = `positions of the elements of ${operand}`;
    result.append(create("h2", operand), picture);
  }
}

function buffers(found) {
  const table = document.createElement("table");
  for (const each of found.buffers) {
    const row = table.insertRow();
    row.append(create("th", each.name), create("td", `${each.dtype} ${each.shape.join(" × ")}`));
    row.append(create("td", each.first, "code"));
  }
  const counts = Object.entries(found.counts).map(([family, count]) => `${count} ${family}`);
  return [create("h2", "Buffers after the run"), table, create("h2", "Instructions of warps"),
    create("p", counts.join(", "))];
}

function diagnostic(found) {
  const item = document.createElement("li");
  item.className = found.severity;
  if (found.start) {
    const title = create("button", `${found.file}:${found.start.line}:${found.start.column}`, "place");
    title.addEventListener("click", () => select(found));
    item.append(title);
  }
  item.append(create("code", `${found.severity} ${found.code}`), create("p", found.message));
  if (found.hint) item.append(create("p", found.hint, "hint"));
  for (const note of found.notes ?? []) item.append(create("p", note.message, "note"));
  if (found.section) item.append(create("p", found.section, "section"));
  return item;
}

function offset(text, { line, column }) {
  let start = 0;
  for (let number = 1; number < line; number++) start = text.indexOf("\n", start) + 1;
  return start + column - 1;
}

function select(found) {
  const area = found.file === "launch.toml" ? launch : ptx;
  area.focus();
  area.setSelectionRange(offset(area.value, found.start), offset(area.value, found.end));
  const height = parseFloat(getComputedStyle(area).lineHeight);
  area.scrollTop = Math.max(0, (found.start.line - 4) * height);
}

// Editor ---------------------------------------------------------------------------------------------------------

function number() {
  const lines = ptx.value.split("\n").length;
  byId("numbers").textContent = Array.from({ length: lines }, (_, index) => index + 1).join("\n");
  byId("numbers").scrollTop = ptx.scrollTop;
}

function line_of_cursor() {
  const start = ptx.value.lastIndexOf("\n", ptx.selectionStart - 1) + 1;
  return ptx.value.slice(start).split("\n", 1)[0].trim();
}

function choose(example) {
  ptx.value = example.ptx;
  launch.value = example.launch;
  number();
}

async function open() {
  if (typeof FILES === "undefined") return tell("failed", "files.js is missing: this copy of the site was built without npm");
  const names = Object.keys(FILES);
  const contents = await Promise.all(names.map((name) => unpack(FILES[name])));
  files = Object.fromEntries(names.map((name, index) => [name, contents[index]]));
  start();
  const examples = JSON.parse(text_of("examples.json"));
  byId("example").append(...examples.map((each, index) => new Option(each.title, index)));
  byId("example").addEventListener("change", (event) => choose(examples[event.target.value]));
  if (!ptx.value) choose(examples[0]);
  ptx.addEventListener("input", number);
  ptx.addEventListener("scroll", number);
  byId("check").addEventListener("click", () => send("check", ptx.value));
  byId("run").addEventListener("click", () => send("run", ptx.value, launch.value));
  byId("layout").addEventListener("click", () => send("layout", byId("instruction").value || line_of_cursor()));
  byId("stop").addEventListener("click", () => stop("stopped"));
}

open();
