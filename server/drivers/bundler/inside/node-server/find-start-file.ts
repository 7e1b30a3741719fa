import { statSync } from "node:fs";
import path from "node:path";

const EXTENSIONS = ["js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx"];

/** Where servers commonly start, when package.json does not say it. Folders of build output first. */
const COMMON_NAMES = [
  ...["dist/server", "dist/index", "dist/main", "dist/app", "dist/src/server", "dist/src/index", "build/server"],
  ...["build/index", "server", "app", "index", "main", "src/server", "src/app", "src/index", "src/main"],
  ...["server/server", "server/index", "server/app", "bin/www"],
];

/** Programs that run a JavaScript or TypeScript file. Some have a subcommand for it, such as `tsx watch`. */
const RUNNERS = new Set(["node", "nodejs", "tsx", "ts-node", "ts-node-esm", "ts-node-dev", "tsnd", "nodemon", "bun"]);
const SUBCOMMANDS = new Set(["run", "watch"]);

/** Options of these programs whose value is the next word. */
const OPTIONS_WITH_VALUE = new Set([
  "-r",
  "--require",
  "--import",
  "--loader",
  "--experimental-loader",
  "-C",
  "--watch",
]);

/**
 * Returns the file that the `start` script of package.json runs, as written there, such as `dist/main` or `.`. Of several
 * commands the last one counts.
 *
 * @returns `null` when the last command runs no file with Node or a similar program
 */
export function readStartFile(script: unknown): string | null {
  if (typeof script !== "string") return null;
  const command = script.split(/&&|;/).at(-1) ?? "";
  const words = command.trim().split(/\s+/);
  const at = words.findIndex((word) => RUNNERS.has(path.basename(word)));
  // Before the program there may be variables, and programs that set them.
  if (at < 0 || !words.slice(0, at).every((word) => word.includes("=") || /^(npx|cross-env|dotenv|env|--)$/.test(word)))
    return null;
  for (let index = at + 1; index < words.length; index++) {
    const word = (words[index] ?? "").replaceAll(/^["']|["']$/g, "");
    if (OPTIONS_WITH_VALUE.has(word)) index += 1;
    else if (!word.startsWith("-") && !SUBCOMMANDS.has(word)) return word;
  }
  return null;
}

/**
 * Finds a file as Node does: the exact name, with an extension, or the `index` of a folder.
 *
 * @returns the path relative to the current folder; `undefined` when there is no such file below it
 */
export function resolveFile(name: string): string | undefined {
  const file = path.normalize(name);
  if (file.startsWith("..") || path.isAbsolute(file)) return undefined;
  const names = [file, ...EXTENSIONS.map((extension) => `${file}.${extension}`)];
  return [...names, ...EXTENSIONS.map((extension) => path.join(file, `index.${extension}`))].find(
    (each) => statSync(each, { throwIfNoEntry: false })?.isFile() === true,
  );
}

/** The files that commonly start a server and exist. */
export function findCommonFiles(): string[] {
  return COMMON_NAMES.flatMap((name) => resolveFile(name) ?? []);
}
