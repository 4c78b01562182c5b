/** VS Code in a browser: code-server with the packed extension, and Chromium with one page. */

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import * as path from "node:path";

import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser, type Frame, type Locator, type Page } from "playwright-core";

const HERE = import.meta.dirname;
const EXTENSION = path.join(HERE, "../..");
const REPOSITORY = path.join(EXTENSION, "../..");
const WARPLOOM = path.join(REPOSITORY, ".venv/bin/warploom");
const SERVER = path.join(HERE, "node_modules/code-server/out/node/entry.js");
/** Time limit of one action in the editor, in milliseconds. */
const LIMIT = 60_000;

const SETTINGS = {
  "chat.disableAIFeatures": true,
  "editor.codeLensFontSize": 12,
  "editor.fontSize": 13,
  "editor.minimap.enabled": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "terminal.integrated.gpuAcceleration": "off",
  "update.mode": "none",
  "window.commandCenter": false,
  "workbench.activityBar.location": "hidden",
  "workbench.colorTheme": "Light Modern",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

/** Files of the workspace, by their paths in the repository. */
const FILES = {
  "examples/gemm_int8.toml": "gemm_int8.toml",
  "examples/ptx/gemm_s8_tn_sm80.ptx": "ptx/gemm_s8_tn_sm80.ptx",
  "examples/vector_add.py": "vector_add.py",
  "tests/corpus/wgmma_raw_sm90a.ptx": "wgmma.ptx",
};

const BROKEN = `.version 8.0
.target sm_90
.address_size 64

.visible .entry broken()
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.gobal.u32 %r1, [%rd1];
    ret;
}
`;

const TRITON = `import triton
import triton.language as tl


@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
`;

export class Editor {
  readonly page: Page;
  readonly workspace: string;
  /** Addresses outside the server that webviews have asked for. The editor itself asks for its marketplace. */
  readonly foreign: string[] = [];
  private readonly server: ChildProcess;
  private readonly browser: Browser;
  private readonly folder: string;

  private constructor(page: Page, browser: Browser, server: ChildProcess, folder: string) {
    this.page = page;
    this.browser = browser;
    this.server = server;
    this.folder = folder;
    this.workspace = path.join(folder, "kernels");
  }

  /** Install the extension and open the workspace. */
  static async start(): Promise<Editor> {
    const folder = mkdtempSync(path.join(tmpdir(), "warploom-editor-"));
    const workspace = path.join(folder, "kernels");
    for (const [from, to] of Object.entries(FILES)) cpSync(path.join(REPOSITORY, from), path.join(workspace, to));
    const launch = path.join(workspace, "gemm_int8.toml");
    const small = readFileSync(launch, "utf8").replaceAll("256", "128").replace("[2, 2]", "[1, 1]");
    writeFileSync(launch, small); // one CTA, so that the sanitizer is fast
    writeFileSync(path.join(workspace, "broken.ptx"), BROKEN);
    writeFileSync(path.join(workspace, "triton_kernel.py"), TRITON);
    write(path.join(folder, "data/User/settings.json"), SETTINGS);
    write(path.join(folder, "data/Machine/settings.json"), { "warploom.command": WARPLOOM });
    const folders = ["--user-data-dir", path.join(folder, "data"), "--extensions-dir", path.join(folder, "extensions")];
    // The home folder is empty, but compiled arithmetic is kept from run to run.
    const cache = process.env["WARPLOOM_CACHE"] ?? path.join(homedir(), ".cache/warploom");
    const environment = { ...process.env, HOME: folder, WARPLOOM_CACHE: cache };
    const vsix = path.join(EXTENSION, "dist/warploom.vsix");
    execFileSync(process.execPath, [SERVER, ...folders, "--install-extension", vsix], {
      env: environment,
      stdio: "pipe",
    });

    const address = `127.0.0.1:${await freePort()}`;
    const options = ["--auth", "none", "--bind-addr", address, "--disable-telemetry", "--disable-update-check"];
    const server = spawn(process.execPath, [SERVER, ...options, ...folders, workspace], {
      env: environment,
      stdio: "ignore",
    });
    await reachable(`http://${address}/healthz`);
    const executablePath = await chromium.executablePath();
    const browser = await playwright.launch({ executablePath, args: chromium.args, headless: true });
    const page = await browser.newPage({ viewport: { width: 1100, height: 640 } });
    page.setDefaultTimeout(LIMIT);
    const editor = new Editor(page, browser, server, folder);
    page.on("request", (request) => {
      const { protocol, host } = new URL(request.url());
      const ofWebview = request.serviceWorker() === null && request.frame() !== page.mainFrame();
      if (ofWebview && protocol.startsWith("http") && host !== address) editor.foreign.push(request.url());
    });
    await page.goto(`http://${address}/?folder=${workspace}`);
    await page.locator(".explorer-folders-view .monaco-list-row").first().waitFor();
    return editor;
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.server.kill();
    await new Promise((resolve) => this.server.once("exit", resolve));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Open a file of the workspace. */
  async open(file: string): Promise<void> {
    await this.pick(file, "Control+p");
    await this.page.locator(`.tab.active[data-resource-name="${path.basename(file)}"]`).waitFor();
    await this.page.locator(".monaco-editor .view-line").first().waitFor();
  }

  /** Run a command of the palette. */
  async run(title: string): Promise<void> {
    await this.pick(`>${title}`, "F1");
  }

  /** Put the cursor before a text in the open file. */
  async goToText(text: string): Promise<void> {
    const name = await this.page.locator(".tab.active").getAttribute("data-resource-name");
    const before = readFileSync(path.join(this.workspace, name!), "utf8").split(text, 1)[0]!;
    const indented = before.slice(before.lastIndexOf("\n") + 1);
    await this.pick(`:${before.split("\n").length}`, "Control+g");
    await this.page.keyboard.press("Home");
    for (let k = 0; k < indented.trimStart().length; k++) await this.page.keyboard.press("ArrowRight");
  }

  /** Choose a row of an open list. */
  async pickRow(text: string): Promise<void> {
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).click();
  }

  /** Write a shell program and return its path. */
  program(body: string): string {
    const file = path.join(this.folder, "program");
    writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return file;
  }

  /** Replace the settings of the machine. */
  configure(settings: object): void {
    write(path.join(this.folder, "data/Machine/settings.json"), settings);
  }

  /** Text of the editor's visible lines, with plain spaces. */
  async text(): Promise<string> {
    const lines = await this.page.locator(".monaco-editor .view-line").allInnerTexts();
    return lines.join("\n").replaceAll("\u00a0", " ");
  }

  lens(title: string): Locator {
    return this.page.locator(".codelens-decoration a", { hasText: title });
  }

  /** Wait until the terminal shows a text. Return the text of the terminal. */
  async terminal(expected: string): Promise<string> {
    const rows = this.page.locator(".xterm-rows");
    await rows.filter({ hasText: expected }).first().waitFor();
    return (await rows.first().innerText()).replaceAll("\u00a0", " ");
  }

  /** Wait until a webview has an element, and return its frame. */
  async webview(selector: string): Promise<Frame> {
    const end = Date.now() + LIMIT;
    while (Date.now() < end) {
      for (const frame of this.page.frames()) {
        const count = await frame.locator(selector).count().catch(() => 0);
        if (count > 0 && frame !== this.page.mainFrame()) return frame;
      }
      await this.page.waitForTimeout(200);
    }
    throw new Error(`no webview has ${selector}`);
  }

  /** Write a picture of the window if WARPLOOM_SCREENSHOTS names a folder. */
  async screenshot(name: string): Promise<void> {
    const folder = process.env["WARPLOOM_SCREENSHOTS"];
    if (folder !== undefined) await this.page.screenshot({ path: path.join(folder, `${name}.png`) });
  }

  private async pick(text: string, key: string): Promise<void> {
    await this.page.keyboard.press(key);
    const input = this.page.locator(".quick-input-widget input.input");
    await input.waitFor({ state: "visible" });
    await input.fill(text);
    await this.page.locator(".quick-input-list .monaco-list-row").first().waitFor();
    await this.page.waitForTimeout(300); // the list follows the text with a delay
    await input.press("Enter");
    await input.waitFor({ state: "hidden" });
  }
}

function write(file: string, data: object): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(data));
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

async function reachable(url: string): Promise<void> {
  const end = Date.now() + LIMIT;
  while (Date.now() < end) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} does not answer`);
}
