/** Pages in the editor: the layout of an instruction's operands, and the report of a run. */

import { randomBytes } from "node:crypto";
import * as path from "node:path";
import * as vscode from "vscode";

import type { Client } from "./client";
import { secured } from "./html";
import type { Warploom } from "./warploom";

/** Position of an instruction. */
export interface InstructionAt {
  uri: string;
  position: { line: number; character: number };
}

export class Pages {
  constructor(
    private readonly warploom: Warploom,
    private readonly client: Client,
  ) {}

  /** Show the layout page of an instruction, by default of the one at the cursor. */
  async showLayout(at?: InstructionAt): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const uri = at === undefined ? editor?.document.uri : vscode.Uri.parse(at.uri);
    if (uri === undefined || editor === undefined) return;
    const position = at === undefined ? editor.selection.active : new vscode.Position(at.position.line, at.position.character);
    const instruction = await this.client.instruction(await vscode.workspace.openTextDocument(uri), position);
    if (instruction === null) {
      void vscode.window.showInformationMessage("There is no instruction at the cursor.");
      return;
    }
    await this.show("layout", `Layout of ${instruction.split(/\s/, 1)[0]}`, ["layout", "--html", "--", instruction]);
  }

  /** Run a launch file and show the report. */
  async showReport(file: string): Promise<void> {
    await vscode.workspace.saveAll();
    const title = `Report of ${path.basename(file)}`;
    await this.show("report", title, ["report", file, "-o", "-"], path.dirname(file));
  }

  private async show(kind: string, title: string, args: readonly string[], cwd?: string): Promise<void> {
    const options = { location: vscode.ProgressLocation.Notification, title: `Warploom: ${title}` };
    const result = await vscode.window.withProgress(options, () => this.warploom.run(args, cwd));
    if (!result.stdout.includes("</html>")) {
      void vscode.window.showErrorMessage(result.stderr.trim() || `warploom ${kind} wrote no page.`);
      return;
    }
    const panel = vscode.window.createWebviewPanel(`warploom.${kind}`, title, vscode.ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [],
      enableFindWidget: true,
    });
    panel.webview.html = secured(result.stdout, randomBytes(16).toString("base64"));
  }
}
