/** Search for the command `warploom`. */

import * as path from "node:path";

export interface Settings {
  /** Setting `warploom.command`, or "". */
  command: string;
  /** Setting `warploom.pythonPath`, or "". */
  pythonPath: string;
}

/**
 * Return the command and its first arguments.
 *
 * The settings win. Then comes the virtual environment `.venv` of a folder, and then the command on the PATH.
 */
export function findCommand(
  settings: Settings,
  folders: readonly string[],
  exists: (file: string) => boolean,
): readonly [string, ...string[]] {
  if (settings.command !== "") return [settings.command];
  // -P keeps Python from importing modules of the working folder.
  if (settings.pythonPath !== "") return [settings.pythonPath, "-P", "-m", "warploom"];
  const found = folders.map((folder) => path.join(folder, ".venv", "bin", "warploom")).find(exists);
  return [found ?? "warploom"];
}
