import { readFileSync } from "node:fs";
import { isFile } from "../package-json.ts";
import { inFolder, type StartFile } from "./find-start-file.ts";

/** Code that only Bun runs. */
const BUN_CODE = /\bBun\.\w|["']bun:|["']bun["']/;

const LOCKFILES = ["bun.lock", "bun.lockb"];

/** Sources of Bun import files without their extensions, which Node.js does not find. The variable is in every sandbox. */
const WITH_TSX = "node --import $TOOLCHAIN_MODULES/tsx/dist/loader.mjs";

/** Whether a command starts Bun. */
export function runsBun(text: string): boolean {
  return /(?:^|\s)bunx?(?:\s|$)/.test(text);
}

/**
 * Lets Node.js run what a start script runs with Bun, which most servers do not notice.
 *
 * @param text - the start script
 * @returns `null` if the file needs Bun
 */
export function replaceBun(text: string, place: StartFile): string | null {
  const { named, file } = place;
  if (BUN_CODE.test(readFileSync(file, "utf8"))) return null;
  const written = RegExp.escape(inFolder(named, place));
  const program = new RegExp(`\\bbun(?:\\s+(?:run|-[\\w-]+(?:=\\S+)?))*\\s+(["']?)${written}\\1(?=\\s|$)`);
  return program.test(text) ? text.replace(program, () => runFile(inFolder(file, place))) : runFile(file);
}

/** The command that runs a file with Node.js. */
export function runFile(file: string): string {
  const isSource = /\.[cm]?tsx?$/.test(file) && LOCKFILES.some(isFile);
  return `${isSource ? WITH_TSX : "node"} ${/^[\w./-]+$/.test(file) ? file : JSON.stringify(file)}`;
}
