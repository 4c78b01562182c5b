/** The extension in VS Code: what a user sees and clicks. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { after, afterEach, before, test } from "node:test";

import { Editor } from "./editor.ts";

let editor: Editor;

before(async () => {
  editor = await Editor.start();
});
after(() => editor.close());
afterEach(async () => {
  await editor.page.keyboard.press("Escape");
  await editor.run("View: Close All Editors");
});

test("a PTX file is highlighted, and its kernels have links", async () => {
  await editor.open("wgmma.ptx");
  await editor.lens("Run on the emulator").first().waitFor();
  await editor.lens("Sanitize").first().waitFor();
  const opcode = editor.page.locator(".view-line span span", { hasText: /^\.entry$/ }).first();
  const name = editor.page.locator(".view-line span span", { hasText: /^\s*wgmma_f16_n8$/ }).first();
  assert.notEqual(await opcode.getAttribute("class"), await name.getAttribute("class"));
});

test("a hover shows the instruction and a picture of its layout, which leads to a page", async () => {
  await editor.open("wgmma.ptx");
  await editor.lens("Sanitize").first().waitFor();
  await editor.goToText("wgmma.mma_async");
  await editor.run("Show or Focus Hover");
  const hover = editor.page.locator(".monaco-hover:visible");
  await hover.filter({ hasText: "T128" }).first().waitFor();
  const picture = hover.locator("img").first();
  await picture.waitFor();
  await editor.page.waitForFunction((img) => (img as HTMLImageElement).naturalWidth > 100, await picture.elementHandle());
  await editor.screenshot("vscode_hover");
  await hover.getByText("Layouts of all operands").click();
  const page = await editor.webview("table td");
  assert.match(await page.locator("h1").innerText(), /wgmma\.mma_async/);
  await editor.page.mouse.move(0, 0);
  await hover.first().waitFor({ state: "hidden" });
  await editor.page.keyboard.press("Control+b");
  await editor.screenshot("vscode_layout");
  await editor.page.keyboard.press("Control+b");
});

test("an error has a diagnostic, and a quick fix removes it", async () => {
  await editor.open("broken.ptx");
  await editor.page.locator(".squiggly-error").first().waitFor();
  await editor.goToText("ld.gobal");
  await editor.page.keyboard.press("Control+.");
  const menu = editor.page.locator(".action-widget");
  await menu.locator(".monaco-list-row.action", { hasText: "ld.global" }).first().waitFor();
  await editor.screenshot("vscode_fix");
  await editor.page.keyboard.press("Enter");
  await editor.page.locator(".squiggly-error").first().waitFor({ state: "detached" });
  assert.doesNotMatch(await editor.text(), /gobal/);
});

test("completion offers the words that are legal next", async () => {
  await editor.open("broken.ptx");
  await editor.goToText("ret;");
  await editor.page.keyboard.type("mbarrier.");
  const list = editor.page.locator(".suggest-widget.visible");
  await list.locator(".monaco-list-row", { hasText: "arrive" }).first().waitFor();
  await list.locator(".monaco-list-row", { hasText: "try_wait" }).first().waitFor();
  await editor.page.keyboard.press("Escape");
  await editor.run("File: Revert File");
});

test("a kernel in PTX runs with the launch file that names it", async () => {
  await editor.open("gemm_s8_tn_sm80.ptx");
  await editor.lens("Run on the emulator").first().click();
  await editor.terminal("c is exact");
  await editor.screenshot("vscode_run");
});

test("a kernel without a launch file asks for one", async () => {
  await editor.open("wgmma.ptx");
  await editor.goToText(".visible .entry");
  await editor.lens("Sanitize").first().click();
  await editor.pickRow("Write a launch file");
  await editor.page.locator('.tab.active[data-resource-name="wgmma_f16_n8.toml"]').waitFor();
  assert.match(readFileSync(path.join(editor.workspace, "wgmma_f16_n8.toml"), "utf8"), /fill in/);
});

test("a launch file can be sanitized", async () => {
  await editor.open("gemm_int8.toml");
  await editor.lens("Sanitize").first().click();
  await editor.terminal("no findings");
});

test("kernels in Python run as programs", async () => {
  await editor.open("vector_add.py");
  await editor.lens("Sanitize").first().click();
  await editor.terminal("1 launch on the emulator; no findings");
  await editor.open("triton_kernel.py");
  await editor.lens("Run on the emulator").first().waitFor();
  assert.deepEqual(await editor.lens("").allInnerTexts().then((all) => all.filter((text) => text !== "")), [
    "Run on the emulator",
    "Sanitize",
  ]);
});

test("the report of a run is a page without foreign addresses", async () => {
  await editor.open("gemm_int8.toml");
  await editor.run("View: Hide Panel");
  await editor.run("Warploom: Show the Report of a Run");
  const page = await editor.webview("h1");
  assert.match(await page.locator("h1").innerText(), /mm_t/);
  await editor.page.waitForTimeout(500); // scripts draw the timeline
  await editor.screenshot("vscode_report");
  assert.deepEqual(editor.foreign, []);
});

test("debugging without an adapter ends with a sentence", async () => {
  await editor.open("gemm_int8.toml");
  await editor.page.keyboard.press("F5");
  const dialog = editor.page.locator(".monaco-dialog-box");
  await dialog.filter({ hasText: "has no debug adapter" }).waitFor();
  await editor.page.keyboard.press("Escape");
});

test("a missing command leads to one message with the way to install it", async () => {
  await editor.open("wgmma.ptx");
  editor.configure({ "warploom.command": "/absent/warploom" });
  const notes = editor.page.locator(".notification-list-item", { hasText: "pip install 'warploom[lsp]'" });
  await notes.first().waitFor();
  assert.match(await notes.first().innerText(), /\/absent\/warploom cannot be started/);
  await editor.open("gemm_int8.toml");
  await editor.run("Warploom: Show the Report of a Run");
  await editor.page.waitForTimeout(1000);
  assert.equal(await editor.page.locator(".notification-list-item").count(), 1);
});

test("a server that does not start leads to a message", async () => {
  await editor.open("wgmma.ptx");
  editor.configure({ "warploom.command": editor.program("echo error: pygls is missing >&2; exit 2") });
  const note = editor.page.locator(".notification-list-item", { hasText: "language server of Warploom does not start" });
  await note.waitFor();
  assert.match(await note.innerText(), /pygls is missing/);
});
