/** Choice of the file that describes the launch of a kernel. */

import * as path from "node:path";
import * as vscode from "vscode";

import type { Warploom } from "./warploom";

/** Kernel of a code lens, as the language server describes it. */
export interface KernelAt {
  file: string;
  kernel: string;
  launchFiles: string[];
}

const CHOOSE = "Choose a launch file…";
const WRITE = "Write a launch file";

export class LaunchFiles {
  constructor(private readonly warploom: Warploom) {}

  /**
   * Return the launch file or Python program to run, or undefined if the user cancels.
   *
   * Without a kernel, the file of the active editor counts. A PTX kernel has the launch files that name it. If there is
   * not exactly one, the user chooses.
   */
  async select(kernel?: KernelAt): Promise<string | undefined> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showErrorMessage("Trust this folder to run its kernels.");
      return undefined;
    }
    const at = kernel ?? this.active();
    if (at === undefined || path.extname(at.file) !== ".ptx") return at?.file;
    if (at.launchFiles.length === 1) return at.launchFiles[0];
    const items = at.launchFiles.map((file) => ({ label: path.basename(file), description: path.dirname(file), file }));
    const others = [
      { label: CHOOSE, description: "", file: "" },
      { label: WRITE, description: "with warploom init, from the parameters of the kernel", file: "" },
    ];
    const placeHolder = `Launch file of ${at.kernel || path.basename(at.file)}: grid, block and arguments`;
    const chosen = await vscode.window.showQuickPick([...items, ...others], { placeHolder });
    if (chosen?.label === CHOOSE) return this.choose(at);
    if (chosen?.label === WRITE) return this.write(at);
    return chosen?.file;
  }

  private active(): KernelAt | undefined {
    const document = vscode.window.activeTextEditor?.document;
    return document === undefined ? undefined : { file: document.fileName, kernel: "", launchFiles: [] };
  }

  private async choose(at: KernelAt): Promise<string | undefined> {
    const found = await vscode.window.showOpenDialog({
      defaultUri: vscode.Uri.file(path.dirname(at.file)),
      filters: { "Launch files": ["toml"] },
      title: "Launch file",
    });
    return found?.[0]?.fsPath;
  }

  /** Write a launch file, and open it: the user must fill in what the PTX does not state. */
  private async write(at: KernelAt): Promise<undefined> {
    const name = at.kernel === "" ? path.parse(at.file).name : at.kernel;
    const file = path.join(path.dirname(at.file), `${name}.toml`);
    const kernel = at.kernel === "" ? [] : ["--kernel", at.kernel];
    const { status, stderr } = await this.warploom.run(["init", at.file, ...kernel, "-o", file]);
    if (status !== 0) {
      void vscode.window.showErrorMessage(stderr.trim());
      return;
    }
    await vscode.window.showTextDocument(vscode.Uri.file(file));
  }
}
