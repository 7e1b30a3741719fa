import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { ancestorFolders } from "./ancestor-folders.ts";

/**
 * Runs a command line, and prints it. Its programs can be those of installed packages. A shell runs it, so it can do what a
 * build script can.
 *
 * @returns the exit code
 */
export function runInstalledProgram(commandLine: string): number {
  // The root of a workspace has the programs of the packages that its packages share.
  const folders = ancestorFolders(process.cwd());
  console.log(`> ${commandLine}`);
  const [program, option] = folders.some((folder) => existsSync(path.join(folder, ".pnp.cjs")))
    ? ["yarn", "exec"]
    : ["/bin/sh", "-c"];
  const programs = folders.map((folder) => path.join(folder, "node_modules/.bin"));
  const { status } = spawnSync(program, [option, commandLine], {
    stdio: "inherit",
    env: { ...process.env, PATH: [...programs, process.env["PATH"]].join(":") },
  });
  return status ?? 1;
}
