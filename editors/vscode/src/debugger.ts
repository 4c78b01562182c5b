/** Debugger: the adapter `warploom debug --dap` for configurations of the type `warploom`. */

import * as vscode from "vscode";

import type { Warploom } from "./warploom";

export function registerDebugger(context: vscode.ExtensionContext, warploom: Warploom): void {
  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider("warploom", { resolveDebugConfiguration }),
    vscode.debug.registerDebugAdapterDescriptorFactory("warploom", {
      createDebugAdapterDescriptor: async () => {
        const { status, stdout } = await warploom.run(["debug", "--help"]);
        if (status !== 0 || !stdout.includes("--dap")) {
          throw new Error("This version of Warploom has no debug adapter: warploom debug --dap is missing.");
        }
        const [command, ...first] = warploom.command;
        return new vscode.DebugAdapterExecutable(command, [...first, "debug", "--dap"]);
      },
    }),
  );
}

/** Complete a configuration. F5 without a launch.json debugs the launch file in the active editor. */
function resolveDebugConfiguration(
  _folder: vscode.WorkspaceFolder | undefined,
  configuration: vscode.DebugConfiguration,
): vscode.DebugConfiguration {
  const usual = { type: "warploom", request: "launch", name: "Debug the launch file", program: "${file}" };
  return Object.assign(usual, configuration);
}
