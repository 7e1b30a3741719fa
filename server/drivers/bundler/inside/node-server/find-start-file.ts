import path from "node:path";
import { isFile, readManifest } from "../package-json.ts";

const EXTENSIONS = ["js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx"];

/** Where servers commonly start, when package.json does not say it. Folders of build output first. */
const COMMON_NAMES = [
  ...["dist/server", "dist/index", "dist/main", "dist/app", "dist/src/server", "dist/src/index", "build/server"],
  ...["build/index", "server", "app", "index", "main", "src/server", "src/app", "src/index", "src/main"],
  ...["server/server", "server/index", "server/app", "bin/www"],
];

/** The file that a start script runs. The paths are relative to the project. */
export interface StartFile {
  /** As the script names it. */
  named: string;
  /** The one that exists. */
  file: string;
  /** The folder in which the script runs. */
  folder: string;
}

/** A path relative to the folder in which the script runs. */
export function inFolder(file: string, { folder }: StartFile): string {
  return folder === "." ? file : path.relative(folder, file);
}

/**
 * Finds a file as Node does: the exact name, with an extension, or the `main` or the `index` of a folder.
 *
 * @returns the path relative to the current folder; `undefined` when there is no such file below it
 */
export function resolveFile(name: string): string | undefined {
  const file = path.normalize(name);
  if (file.startsWith("..") || path.isAbsolute(file)) return undefined;
  const { main } = readManifest(file);
  const inFolder = [main, "index"].filter((each) => typeof each === "string").map((each) => path.join(file, each));
  return [file, ...inFolder].flatMap((each) => [each, ...withExtensions(each)]).find(isFile);
}

function withExtensions(name: string): string[] {
  return EXTENSIONS.map((extension) => `${name}.${extension}`);
}

/**
 * Finds the file that a start command names. Without it, finds the source from which a compiler that did not run would have
 * written it, such as `src/app.ts` for `dist/app.js`.
 */
export function resolveStartFile(name: string): string | undefined {
  const source = path.normalize(name).replace(/^(dist|build|lib|out)\/(.*?)(\.[cm]?js)?$/, "src/$2");
  return resolveFile(name) ?? resolveFile(source);
}

/** The files that commonly start a server and exist. */
export function findCommonFiles(): string[] {
  return COMMON_NAMES.flatMap((name) => resolveFile(name) ?? []);
}
