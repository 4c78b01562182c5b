/** Runs of the command in a terminal. */

import * as path from "node:path";
import * as vscode from "vscode";

import type { Warploom } from "./warploom";

/** Save the open files and run `warploom VERB FILE` in a terminal of its own. */
export async function runInTerminal(warploom: Warploom, verb: "run" | "sanitize", file: string): Promise<void> {
  if (!(await warploom.isInstalled())) {
    warploom.tellMissing();
    return;
  }
  await vscode.workspace.saveAll();
  const [command, ...first] = warploom.command;
  const args = [...first, verb, file];
  // A task passes the arguments without a shell, so that a path may contain any character.
  const execution = new vscode.ProcessExecution(command, args, { cwd: path.dirname(file) });
  const task = new vscode.Task(
    { type: "warploom", verb, file },
    vscode.TaskScope.Workspace,
    `${verb} ${path.basename(file)}`,
    "warploom",
    execution,
  );
  task.presentationOptions = { clear: true, panel: vscode.TaskPanelKind.Dedicated };
  await vscode.tasks.executeTask(task);
}
