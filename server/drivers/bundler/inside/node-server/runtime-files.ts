import { readdirSync, statSync } from "node:fs";
import path from "node:path";

const MAX_FILES = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

const CODE = /\.[cm]?[jt]sx?$/;
/** Code that only development runs. */
const DEVELOPMENT_FILE =
  /\.d\.[cm]?ts$|\.(?:test|spec|stories|e2e|cy)\.[cm]?[jt]sx?$|^\.\w+rc\.[cm]?js$|^(?:eslint|jest|vitest|vite|playwright|cypress|prettier|tailwind|postcss|babel|webpack|rollup|tsup|tsdown|unbuild|commitlint|lint-staged|stylelint|karma|release|release-it|storybook|nodemon|gulpfile|gruntfile|renovate)\b.*\.[cm]?[jt]s$/i;
const DEVELOPMENT_FOLDER =
  /^(?:node_modules|\..+|tests?|__tests__|__mocks__|e2e|cypress|playwright|stories|coverage|docs?|fixtures)$/;
/** Folders to which builds write code that needs nothing of the sources. */
const BUILT = /^(?:\.\/)?((?:dist|build|out|lib|\.output|\.next)(?=\/|$))/;
/** Programs that run TypeScript. The settings of the compiler may be in a package. */
const COMPILERS = /(?:^|\/)(?:tsx|jiti)(?:\/|$)/;

/**
 * Lists the files of projects whose code a server may run: those that its build wrote, if it starts there, or else all but those of
 * tests and tools, and its configurations.
 *
 * @param projects - the folders of the server and of the packages of its workspace
 * @param words - the words of the start command
 * @returns `null` if they are too many, or too large
 */
export function listRuntimeFiles(projects: readonly string[], words: ReadonlySet<string>): string[] | null {
  const [own = ".", ...members] = projects;
  const built = [...words].flatMap((word) => BUILT.exec(word)?.[1] ?? []);
  const folders = built.length > 0 ? built.map((each) => path.join(own, each)) : [own];
  const compiles = [...words].some((word) => COMPILERS.test(word));
  const top = readdirSync(own).filter((name) => (compiles && /^tsconfig.*\.json$/.test(name)) || isRuntimeCode(name));
  const files = new Set(top.map((name) => path.join(own, name)));
  for (const folder of [...folders, ...members]) addFiles(folder, files);
  const readable = [...files].filter((file) => bytesOf(file) > 0);
  const isLarge = files.size > MAX_FILES || readable.reduce((sum, file) => sum + bytesOf(file), 0) > MAX_BYTES;
  return isLarge ? null : readable;
}

function addFiles(folder: string, files: Set<string>): void {
  if (files.size > MAX_FILES || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() && !DEVELOPMENT_FOLDER.test(entry.name)) addFiles(file, files);
    else if (entry.isFile() && isRuntimeCode(entry.name)) files.add(file);
  }
}

function isRuntimeCode(name: string): boolean {
  return CODE.test(name) && !DEVELOPMENT_FILE.test(name);
}

/** 0 for what is not a regular file. */
function bytesOf(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true ? found.size : 0;
}
