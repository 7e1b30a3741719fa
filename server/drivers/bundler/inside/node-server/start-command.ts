import { readFileSync } from "node:fs";
import path from "node:path";
import { isFile, type PackageJson, readManifest } from "../package-json.ts";
import { commandsOf, readPlace } from "../script-commands.ts";
import { findMember } from "../workspace-members.ts";

/** The command of a script, without variables and the programs that set them. */
export interface StartCommand {
  /** The folder in which it runs, relative to the project. */
  folder: string;
  /** Without its folder. */
  program: string;
  args: readonly string[];
}

interface Runner {
  /** Options whose value is the next word. */
  options: readonly string[];
  /** The word before the file. */
  subcommand?: string;
}

const NODE_OPTIONS = [
  ...["-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"],
  ...["--env-file", "--env-file-if-exists"],
];
const NODE: Runner = { options: NODE_OPTIONS };
const TS_NODE: Runner = { options: [...NODE_OPTIONS, "-P", "--project", "-O", "--compiler-options", "--cwd"] };
const PM2: Runner = {
  options: ["-i", "--instances", "-n", "--name", "--env", "--max-memory-restart", "--node-args"],
  subcommand: "start",
};

/** Programs that run a JavaScript or TypeScript file. */
const RUNNERS: Readonly<Record<string, Runner>> = {
  node: NODE,
  nodejs: NODE,
  tsx: { options: [...NODE_OPTIONS, "--tsconfig"], subcommand: "watch" },
  "ts-node": TS_NODE,
  "ts-node-esm": TS_NODE,
  "ts-node-dev": TS_NODE,
  tsnd: TS_NODE,
  nodemon: {
    options: [...NODE_OPTIONS, "-w", "--watch", "-e", "--ext", "-i", "--ignore", "-d", "--delay", "--config"],
  },
  "node-dev": NODE,
  "swc-node": NODE,
  "babel-node": { options: [...NODE_OPTIONS, "-x", "--extensions", "--config-file", "--presets"] },
  bun: { options: ["-r", "--preload", "--env-file", "--cwd", "-c", "--config"], subcommand: "run" },
  jiti: NODE,
  forever: { options: ["-l", "-o", "-e"], subcommand: "start" },
  pm2: PM2,
  "pm2-runtime": PM2,
};

/** Programs that run another one, such as `npx tsx` and `cross-env A=1 node`. */
const WRAPPERS = new Set([
  ...["npx", "bunx", "cross-env", "cross-env-shell", "env", "exec"],
  ...["dotenv", "dotenvx", "env-cmd", "doppler", "infisical", "op"],
]);
const PACKAGE_MANAGERS = new Set(["npm", "pnpm", "yarn", "bun"]);
const SCRIPT_RUNNERS = new Set([...PACKAGE_MANAGERS, "turbo"]);

/** How many scripts may run each other. */
export const MAX_SCRIPTS = 5;

/**
 * Reads the command of the `start` script of package.json. Of several commands the last one counts. If it runs another script,
 * such as `npm run serve`, `npm start --prefix server` and `npm start --workspace server`, the command is that of this script.
 *
 * @returns `null` without such a script
 */
export function readStartCommand({ scripts }: Pick<PackageJson, "scripts">): StartCommand | null {
  let script: unknown = scripts?.[startScript(scripts)];
  let current = scripts;
  let folder = ".";
  for (let count = 0; count < MAX_SCRIPTS && typeof script === "string"; count++) {
    const last = commandsOf(script).at(-1)?.folder ?? ".";
    const words = splitCommand(script.split(/&&|;/).at(-1) ?? "");
    const inside = findScriptFolder(words, path.join(folder, last));
    if (inside === null) return toCommand(words, folder);
    if (inside !== folder) current = scriptsIn(inside);
    folder = inside;
    const next = current?.[readScriptName(words) ?? ""];
    if (typeof next !== "string") return toCommand(words, folder);
    script = next;
  }
  return null;
}

/** The folder whose script a command runs; `null` for several, and for a package which the workspace does not have. */
export function findScriptFolder(words: readonly string[], folder: string): string | null {
  if (!SCRIPT_RUNNERS.has(words[0] ?? "")) return folder;
  const { folders, members } = readPlace(words);
  const [member, ...others] = members;
  const inside = path.join(folder, ...folders);
  if (member === undefined) return inside;
  return inside === "." && others.length === 0 ? findMember(member) : null;
}

/** The scripts of a package in a folder of the project. An invalid package.json has none. */
export function scriptsIn(folder: string): PackageJson["scripts"] {
  try {
    return readManifest(folder).scripts;
  } catch {
    return undefined;
  }
}

/** Scripts that start the built project, if `start` is absent or compiles the sources again. */
const PRODUCTION_SCRIPTS = ["start:prod", "start:production", "production", "prod"];

export function startScript(scripts: PackageJson["scripts"]): string {
  const start = scripts?.["start"];
  const isForProduction = typeof start === "string" && !/^(npx )?nest start$/.test(start.trim());
  return isForProduction
    ? "start"
    : (PRODUCTION_SCRIPTS.find((name) => typeof scripts?.[name] === "string") ?? "start");
}

/**
 * Returns the file that a command runs with Node or a similar program, as written there, such as `dist/main` or `.`.
 *
 * @returns `null` when the command runs no file
 */
export function readStartFile(command: StartCommand | null): string | null {
  if (command === null || !Object.hasOwn(RUNNERS, command.program)) return null;
  const { program, args, folder } = command;
  const { options = [], subcommand } = RUNNERS[program] ?? {};
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? "";
    if (program === "nodemon" && /^(-x|--exec)$/.test(word))
      return readStartFile(toCommand(splitCommand(args[index + 1] ?? ""), folder));
    // Code, and no file.
    if (program === "node" && /^(-e|--eval|-p|--print)$/.test(word)) return null;
    if (options.includes(word)) index += 1;
    else if (!word.startsWith("-") && word !== subcommand)
      return readProcessFile(folder === "." ? word : path.join(folder, word));
  }
  return null;
}

/** The folder of another package whose server the start script runs, such as `server` in `npm start --workspace server`. */
export function readStartedFolder(packageJson: Pick<PackageJson, "scripts">): string | null {
  const command = readStartCommand(packageJson);
  let folder = path.dirname(readStartFile(command) ?? path.join(command?.folder ?? ".", "file"));
  while (isBelow(folder) && !isFile(path.join(folder, "package.json"))) folder = path.dirname(folder);
  return isBelow(folder) ? path.normalize(folder) : null;
}

/** Whether a path is that of a folder in the current one. */
function isBelow(folder: string): boolean {
  return /^(?:\.\/)*[\w@-][\w./@-]*$/.test(folder) && !path.normalize(folder).startsWith("..");
}

/** The file that a configuration of PM2 names. Any other file is returned as it is. */
function readProcessFile(file: string): string {
  if (!/\.config\.[cm]?js$|(^|\/)ecosystem[\w.-]*\.json$/.test(file) || !isFile(file)) return file;
  return /\bscript["']?\s*:\s*["'`]([^"'`]+)["'`]/.exec(readFileSync(file, "utf8"))?.[1] ?? file;
}

function toCommand([program, ...args]: readonly string[], folder: string): StartCommand | null {
  return program === undefined ? null : { folder, program: path.basename(program), args };
}

/** The words of a command, from its program on. */
function splitCommand(text: string): string[] {
  let words = [...text.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(([word, double, single]) => double ?? single ?? word);
  let isWrapped = false;
  for (;;) {
    const [first = "", second = ""] = words;
    if (/^\w+=/.test(first)) words = words.slice(1);
    else if (PACKAGE_MANAGERS.has(first) && /^(exec|dlx|x)$/.test(second)) words = words.slice(2);
    else if (/^(pnpm|yarn)$/.test(first) && Object.hasOwn(RUNNERS, second)) words = words.slice(1);
    else if (isWrapped && /^(-|run$)/.test(first) && words.includes("--")) words = words.slice(words.indexOf("--") + 1);
    else if (WRAPPERS.has(first) || (isWrapped && /^(-|\.env)/.test(first))) words = words.slice(1);
    else return words;
    isWrapped = true;
  }
}

/**
 * The name of the script that a command runs, such as `serve` of `npm run serve`. npm needs `run`, except for `start`. Turborepo
 * needs a filter.
 */
export function readScriptName(words: readonly string[]): string | undefined {
  const { rest, members } = readPlace(words);
  const [program = "", ...args] = rest;
  // Without a filter, Turborepo runs the script of all packages.
  if (!SCRIPT_RUNNERS.has(program) || (program === "turbo" && members.length === 0)) return undefined;
  const names = args.filter((word) => !word.startsWith("-"));
  if (/^run(-script)?$/.test(names[0] ?? "")) return names[1];
  return program === "npm" && names[0] !== "start" ? undefined : names[0];
}
