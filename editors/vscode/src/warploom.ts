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

/** Error whose message the user has seen. */
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

  /** Run the command to its end. Throws NotInstalled if there is no command. */
  async run(args: readonly string[], cwd?: string): Promise<Result> {
    const [file, ...first] = this.command;
    try {
      const options = { maxBuffer: OUTPUT_BYTES, ...(cwd === undefined ? {} : { cwd }) };
      const { stdout, stderr } = await promisify(execFile)(file, [...first, ...args], options);
      return { status: 0, stdout, stderr };
    } catch (error) {
      const failed = error as { code?: number | string; stdout?: string; stderr?: string };
      const stderr = failed.stderr ?? "";
      if (typeof failed.code !== "number" || stderr.includes("No module named warploom")) {
        this.tellMissing();
        throw new NotInstalled();
      }
      return { status: failed.code, stdout: failed.stdout ?? "", stderr };
    }
  }

  /** Return true if the command can be started. Otherwise tell the user once how to install it. */
  async isInstalled(): Promise<boolean> {
    try {
      return (await this.run(["--version"])).status === 0;
    } catch (error) {
      if (error instanceof NotInstalled) return false;
      throw error;
    }
  }

  private tellMissing(): void {
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
