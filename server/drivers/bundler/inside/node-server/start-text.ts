import { existsSync } from "node:fs";
import path from "node:path";
import type { PackageJson } from "../package-json.ts";
import { readPlace } from "../script-commands.ts";
import { findScriptFolder, MAX_SCRIPTS, readScriptName, scriptsIn, startScript } from "./start-command.ts";

/** Commands that install and build the project, which has been built. */
const BUILD_COMMANDS =
  /^(?:(?:npm|pnpm|yarn|bun)(?: (?:--prefix|--cwd|--dir|-C|-w|--workspace|--filter|-F)[ =]\S+| workspace \S+)? (?:(?:run )?build[^\s)]*|install|i|ci)(?: -\S+(?:(?<=--prefix|--cwd|--dir|-C|-w|--workspace|--filter|-F|--omit) \S+)?)*|yarn(?: --(?!version|help)\S+)*|tsc(?: .*)?|next build|nest build)$/;

/** Commands that remove what an earlier build wrote. */
const CLEAN_COMMANDS = /^(?:(?:npx )?(?:rimraf|del-cli|del|trash)|rm -\w+) |^(?:npm|pnpm|yarn|bun) (?:run )?clean\b/;

/** A script of a package in a folder of the project, and what follows its name in the command that runs it. */
interface Script {
  name: string;
  folder: string;
  scripts: PackageJson["scripts"];
  args: string;
}

/**
 * Returns the text of the start script for a shell. If its last command runs another script, such as `npm run serve` and
 * `npm start --workspace server`, it is replaced by the text of that one: a package manager takes memory as long as the server
 * runs, and pnpm wants to download the version that the project requires. What builds the project is left out. The script
 * `prestart` comes first, as npm runs it.
 *
 * @returns `null` without such a script
 */
export function readStartText({ scripts }: Pick<PackageJson, "scripts">): string | null {
  return expand({ name: startScript(scripts), folder: ".", scripts, args: "" }, MAX_SCRIPTS);
}

function expand({ name, folder, scripts, args }: Script, depth: number): string | null {
  const text = scripts?.[name];
  if (typeof text !== "string" || depth === 0) return null;
  const commands = withoutBuild([scripts?.[`pre${name}`], args === "" ? text : `${text} ${args}`]);
  const last = commands.at(-1) ?? "";
  const { assignments, run } = splitAssignments(last);
  // After `cd`, the script is that of another folder. A command with one quote is the end of a quoted text.
  const isPlain = !/[|;&<>()`"']/.test(run) && !commands.some((each) => /^cd\b/.test(each));
  const next = !isPlain ? null : findScript(run.trim().split(/\s+/), folder, scripts);
  if (next === null) return commands.join(" && ");
  const expanded = expand(next, depth - 1);
  if (expanded === null) return null;
  // Assignments hold for all commands of the script.
  const exported = assignments === "" ? [] : [`export ${assignments}`];
  return [...commands.slice(0, -1), ...exported, ...enterFolder(next.folder, folder), expanded].join(" && ");
}

/** Goes to the folder of another package, where its programs are found too. */
function enterFolder(folder: string, from: string): string[] {
  if (folder === from) return [];
  return [`cd ${path.relative(from, folder)}`, `export PATH="$PWD/node_modules/.bin:$PATH"`];
}

/** The variables before a command, such as `NODE_ENV=production npm start`, if a shell can export them as they are. */
function splitAssignments(command: string): { assignments: string; run: string } {
  const [, assignments = "", run = command] =
    /^(?:cross-env )?((?:[A-Za-z_]\w*=[\w.,:/@-]* +)+)(.*)$/s.exec(command) ?? [];
  return { assignments: assignments.trim(), run };
}

/** The script that a command of a package manager runs; `null` for any other command, and if there is no such script. */
function findScript(words: readonly string[], from: string, scripts: PackageJson["scripts"]): Script | null {
  const name = readScriptName(words);
  const folder = name === undefined ? null : findScriptFolder(words, from);
  if (name === undefined || folder === null || !/^[\w@.][\w./@-]*$/.test(folder)) return null;
  // Only Yarn lets Node.js find packages that are in no folder.
  if (words[0] === "yarn" && existsSync(".pnp.cjs")) return null;
  const found = folder === from ? scripts : scriptsIn(folder);
  if (typeof found?.[name] !== "string") return null;
  const { rest } = readPlace(words);
  const after = rest.slice(rest.indexOf(name, 1) + 1);
  // npm and Turborepo pass on what follows `--`, and the others everything.
  const passed =
    /^(?:npm|turbo)$/.test(words[0] ?? "") && !after.includes("--") ? [] : after.slice(after.indexOf("--") + 1);
  return { name, folder, scripts: found, args: passed.join(" ") };
}

function withoutBuild(texts: readonly unknown[]): string[] {
  const commands = texts
    .filter((text) => typeof text === "string")
    .flatMap((text) => text.split("&&"))
    .map((each) => each.trim());
  const others = commands.filter((each) => each !== "" && !BUILD_COMMANDS.test(each));
  return others.length === commands.length ? others : others.filter((each) => !CLEAN_COMMANDS.test(each));
}
