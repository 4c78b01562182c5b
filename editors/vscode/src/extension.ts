/** Entry of the extension: creates the parts and registers the commands. */

import * as vscode from "vscode";

import { Client } from "./client";
import { registerDebugger } from "./debugger";
import { LaunchFiles, type KernelAt } from "./launchFiles";
import { Pages, type InstructionAt } from "./pages";
import { runInTerminal } from "./terminal";
import { NotInstalled, Warploom } from "./warploom";

let client: Client | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const warploom = new Warploom();
  const launchFiles = new LaunchFiles(warploom);
  client = new Client(warploom, vscode.Uri.joinPath(context.globalStorageUri, "pictures"));
  const pages = new Pages(warploom, client);

  const command = <Argument>(name: string, action: (at?: Argument) => Promise<void>) => {
    const run = (at?: Argument) => action(at).catch(ignoreNotInstalled);
    context.subscriptions.push(vscode.commands.registerCommand(`warploom.${name}`, run));
  };
  const start = (verb: "run" | "sanitize") => async (kernel?: KernelAt) => {
    const file = await launchFiles.select(kernel);
    if (file !== undefined) await runInTerminal(warploom, verb, file);
  };
  command("run", start("run"));
  command("sanitize", start("sanitize"));
  command("report", async (kernel?: KernelAt) => {
    const file = await launchFiles.select(kernel);
    if (file !== undefined) await pages.showReport(file);
  });
  command("layout", (at?: InstructionAt) => pages.showLayout(at));
  command("restart", () => client!.restart());
  registerDebugger(context, warploom);

  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("warploom")) void client?.restart();
    }),
  );
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (document.languageId === "ptx") void client?.start();
    }),
  );
  await client.start();
}

function ignoreNotInstalled(error: unknown): void {
  if (!(error instanceof NotInstalled)) throw error;
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
