import { execFile } from "node:child_process";
import { rename } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

export const PROJECT = path.resolve(import.meta.dirname, "..");

/** The folder of the files that the service offers at `/downloads`. */
export const DOWNLOADS = path.join(PROJECT, ".cache/downloads");

const NPM = path.join(PROJECT, "node_modules/npm/bin/npm-cli.js");

/** Packs a folder with a package.json to `<folder>.tgz`. npm sets all times in it to the same value. */
export async function packPackage(folder: string): Promise<void> {
  const parent = path.dirname(folder);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [NPM, "pack", "--json", "--offline", "--loglevel=error", `--pack-destination=${parent}`],
    { cwd: folder },
  );
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>);
  if (packed === undefined) throw new Error(`npm pack has packed nothing in ${folder}`);
  await rename(path.join(parent, packed.filename), `${folder}.tgz`);
}
