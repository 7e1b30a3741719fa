import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { PROJECT } from "../service/service-process.ts";

const run = promisify(execFile);

/** Builds the package of the SDK in a folder, and returns the path of the tarball. */
export async function buildSdk(folder: string): Promise<string> {
  await run(process.execPath, [path.join(PROJECT, "scripts/build-sdk.ts"), folder]);
  return path.join(folder, "sdk.tgz");
}

const NPM = path.join(PROJECT, "node_modules/npm/bin/npm-cli.js");

/** Installs a package from a file or a URL into a project, which must need no other package. */
export async function installPackage(project: string, source: string): Promise<void> {
  const options = ["--no-audit", "--no-fund", "--loglevel=error", `--cache=${path.join(project, ".npm")}`];
  await run(process.execPath, [NPM, "install", ...options, source], { cwd: project });
}

/** Compiles a project, and returns the lines that the compiler prints. */
export async function compile(project: string, ...options: string[]): Promise<string[]> {
  const tsc = path.join(PROJECT, "node_modules/typescript/bin/tsc");
  const result = await run(process.execPath, [tsc, "-p", project, ...options]).catch(
    (error: { stdout: string }) => error,
  );
  return result.stdout.split("\n").filter((line) => line !== "");
}
