import { closeSync, globSync, openSync, readFileSync, readSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Manifest } from "./find-packages.ts";

/** The first bytes of a program that is not a script. */
const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);

/**
 * The file that a script of pnpm in `.bin` runs, relative to the script: `"$basedir_abs"/'<file>'` since 12, `"$basedir/<file>"`
 * before. It is in one of two groups.
 */
const FILE = /"\$basedir(?:_abs"\/'([^']+)'|\/([^"]+)")/.source;
const RUN_WITH_NODE = new RegExp(String.raw`\bexec (?:"\$basedir/node"|node) +(?=${FILE})`, "g");
const RUN = new RegExp(String.raw`${FILE}\s+"\$@"`);

/** Returns the file that a script of pnpm in `.bin` runs, relative to the script. */
export function readProgramFile(script: string): string | undefined {
  const [, quoted, file = quoted] = RUN.exec(script) ?? [];
  return file;
}

/**
 * Lets the scripts of pnpm in `.bin` run a program of a package itself, if an install script has replaced it by a native program. pnpm
 * writes them before, for Node.js, and would write them again after the install scripts.
 *
 * @param folder - of the package
 * @param projects - the folders for which packages were installed
 */
export function linkNativePrograms(folder: string, manifest: Manifest, projects: readonly string[]): void {
  for (const [name, file] of readPrograms(manifest)) {
    const program = path.join(folder, file);
    if (!isNative(program)) continue;
    const patterns = [
      ...projects.map((project) => path.join(project, "node_modules/.bin", name)),
      `node_modules/.pnpm/node_modules/.bin/${name}`,
      `node_modules/.pnpm/*/node_modules/{*,@*/*}/node_modules/.bin/${name}`,
    ];
    for (const script of globSync(patterns)) linkProgram(script, program);
  }
}

function linkProgram(script: string, program: string): void {
  const text = readFileSync(script, "utf8");
  const isSame = (target: string) => realPath(path.join(path.dirname(script), target)) === realPath(program);
  const direct = text.replaceAll(RUN_WITH_NODE, (run, quoted?: string, target = quoted ?? "") =>
    isSame(target) ? "exec " : run,
  );
  if (direct !== text) writeFileSync(script, direct);
}

function readPrograms({ name, bin }: Manifest): [name: string, file: string][] {
  const programs = typeof bin === "string" ? { [path.posix.basename(String(name))]: bin } : (bin ?? {});
  return Object.entries(programs).filter(
    (entry): entry is [string, string] => /^[\w.-]+$/.test(entry[0]) && typeof entry[1] === "string",
  );
}

function isNative(file: string): boolean {
  try {
    const [descriptor, start] = [openSync(file, "r"), Buffer.alloc(ELF.length)];
    readSync(descriptor, start);
    closeSync(descriptor);
    return start.equals(ELF);
  } catch {
    return false;
  }
}

function realPath(file: string): string | null {
  try {
    return realpathSync(file);
  } catch {
    return null;
  }
}
