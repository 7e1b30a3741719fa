import { access, constants, realpath } from "node:fs/promises";
import path from "node:path";
import type { Environment } from "./environment.ts";

/**
 * Returns how other programs start this one: the installed command, which stays after an update of Node, or this file with
 * its interpreter.
 */
export async function findOwnProgram({ programPath }: Environment): Promise<readonly [string, ...string[]]> {
  for (const folder of programPath) {
    const file = path.join(folder, process.platform === "win32" ? "svc.cmd" : "svc");
    // npx adds such a folder, which the client does not have.
    if (/node_modules[/\\]\.bin$/.test(folder)) continue;
    const isFound = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isFound) return ["svc"];
  }
  return [process.execPath, await realpath(process.argv[1] ?? "")];
}
