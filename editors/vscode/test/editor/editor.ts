/** VS Code in a browser: code-server with the packed extension, and Chromium with one page. */

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";

import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser, type Frame, type Locator, type Page } from "playwright-core";

const HERE = import.meta.dirname;
const EXTENSION = path.join(HERE, "../..");
const REPOSITORY = path.join(EXTENSION, "../..");
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

export class Editor {
  readonly page: Page;
  readonly workspace: string;
  /** Addresses outside the server that the page has asked for. */
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

  /** Install the extension and open the workspace. `command` is the setting `warploom.command`. */
  static async start(command = path.join(REPOSITORY, ".venv/bin/warploom")): Promise<Editor> {
    const folder = mkdtempSync(path.join(tmpdir(), "warploom-editor-"));
    const workspace = path.join(folder, "kernels");
    for (const [from, to] of Object.entries(FILES)) cpSync(path.join(REPOSITORY, from), path.join(workspace, to));
    mkdirSync(path.join(folder, "data/User"), { recursive: true });
    const settings = JSON.stringify({ ...SETTINGS, "warploom.command": command });
    writeFileSync(path.join(folder, "data/User/settings.json"), settings);
    const folders = ["--user-data-dir", path.join(folder, "data"), "--extensions-dir", path.join(folder, "extensions")];
    const environment = { ...process.env, HOME: folder };
    const vsix = path.join(EXTENSION, "dist/warploom.vsix");
    execFileSync(process.execPath, [SERVER, ...folders, "--install-extension", vsix], { env: environment });

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

  /** Go to a line, from 1, and a column, from 1. */
  async goTo(line: number, column: number): Promise<void> {
    await this.pick(`:${line}:${column}`, "Control+g");
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
