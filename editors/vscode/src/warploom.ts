/** The command `warploom`: where it is, and how the extension runs it. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import * as vscode from "vscode";

import { findCommand } from "./findCommand";

const OUTPUT_BYTES = 256 * 1024 * 1024;

export interface Result {
  status: number;
  stdout: string;
  stderr: string;
}

/** There is no command `warploom`, and the user has been told. */
export class NotInstalled extends Error {}

export class Warploom {
  private tells: Thenable<void> | undefined;

  /** The command and its first arguments. Settings and folders of an untrusted workspace do not count. */
  get command(): readonly [string, ...string[]] {
    const settings = vscode.workspace.getConfiguration("warploom");
    const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
    return findCommand(
      { command: settings.get("command", ""), pythonPath: settings.get("pythonPath", "") },
      folders.map((folder) => folder.uri.fsPath),
      existsSync,
    );
  }

  /** Run the command to its end. Throws NotInstalled if there is no command, after telling the user. */
  async run(args: readonly string[], cwd?: string): Promise<Result> {
    const result = await this.tryToRun(args, cwd);
    if (result !== undefined) return result;
    this.tellMissing();
    throw new NotInstalled();
  }

  /** Return true if the command can be started. */
  async isInstalled(): Promise<boolean> {
    return (await this.tryToRun(["--version"]))?.status === 0;
  }

  /** Run the command to its end without input. Return undefined if there is no command. */
  async tryToRun(args: readonly string[], cwd?: string): Promise<Result | undefined> {
    const [file, ...first] = this.command;
    try {
      const options = { maxBuffer: OUTPUT_BYTES, ...(cwd === undefined ? {} : { cwd }) };
      const running = promisify(execFile)(file, [...first, ...args], options);
      running.child.stdin?.end();
      const { stdout, stderr } = await running;
      return { status: 0, stdout, stderr };
    } catch (error) {
      const { code, stdout = "", stderr = "" } = error as { code?: unknown; stdout?: string; stderr?: string };
      if (code === "ENOENT" || code === "EACCES" || stderr.includes("No module named warploom")) return undefined;
      if (typeof code === "number") return { status: code, stdout, stderr };
      throw error;
    }
  }

  /** Tell the user how to install the command, in one message at a time. */
  tellMissing(): void {
    this.tells ??= this.ask(`Warploom is not installed: the command ${this.command.join(" ")} cannot be started. ` +
      "Install it with pip install 'warploom[lsp]', or set warploom.pythonPath.").then(() => {
      this.tells = undefined;
    });
  }

  private async ask(message: string): Promise<void> {
    const chosen = await vscode.window.showErrorMessage(message, "Open Settings");
    if (chosen === "Open Settings") await vscode.commands.executeCommand("workbench.action.openSettings", "warploom.");
  }
}
