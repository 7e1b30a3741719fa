import path from "node:path";

/** One command of a script. */
export interface ScriptCommand {
  /** The folder in which it runs, as `cd` names it, relative to that of the script. */
  folder: string;
  words: readonly string[];
  /** The folders that options of package managers name, such as `--prefix client`. */
  options: readonly string[];
}

/** Options of npm, Yarn, pnpm and Bun whose value is a folder. */
const FOLDER_OPTION = /^(?:--prefix|--cwd|--dir|-C)(?:=(.+))?$/;

/** Options of npm, pnpm, Bun and Turborepo whose value is a package of the workspace. */
const WORKSPACE_OPTION = /^(?:-w|--workspace|--filter|-F)(?:=(.+))?$/;

/** A path outside of the project, or one that only the shell knows. */
const UNKNOWN_FOLDER = /[$`~%]|^\//;

/** Splits a script into its commands. Quotes are ignored, because a quoted text is a command too, as in `concurrently "cd a && b"`. */
export function commandsOf(script: string): ScriptCommand[] {
  const commands: ScriptCommand[] = [];
  const outer: string[] = [];
  let folder = ".";
  let previous = ".";
  for (const part of script.replaceAll(/["'\\]/g, " ").split(/(&&|\|\||[;&|()\n])/)) {
    if (part === "(") outer.push(folder);
    else if (part === ")") folder = outer.pop() ?? folder;
    else {
      const words = part.split(/\s+/).filter((word) => word !== "");
      const change = words.indexOf("cd");
      if (change !== -1) {
        const target = words[change + 1] ?? ".";
        // One in the middle begins another quoted command.
        const base = change === 0 ? folder : (outer.at(-1) ?? ".");
        const left = folder;
        if (target === "-") folder = previous;
        else folder = UNKNOWN_FOLDER.test(target) ? "." : path.join(base, target);
        previous = left;
      }
      if (words.length > 0) commands.push({ folder, words, options: folderOptions(words) });
    }
  }
  return commands;
}

/** The values of options that name a folder, such as `client` in `npm --prefix client run build`. */
export function folderOptions(words: readonly string[]): readonly string[] {
  return readPlace(words).folders;
}

/** Where a package manager runs a script. */
export interface ScriptPlace {
  /** The values of options that name a folder. */
  folders: readonly string[];
  /** Packages of the workspace, by their names or folders, such as `server` in `npm start --workspace server`. */
  members: readonly string[];
  /** The words that do not say where, such as `npm start`. */
  rest: readonly string[];
}

/** Reads where a package manager runs a script, such as `pnpm --filter ./server start` and `yarn workspace server start`. */
export function readPlace(words: readonly string[]): ScriptPlace {
  const folders: string[] = [];
  const rest: string[] = [];
  const members: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") {
      // What follows is for the script.
      rest.push(...words.slice(index));
      break;
    }
    const folder = FOLDER_OPTION.exec(word);
    // For pnpm, `-w` is the root of the workspace, and has no value.
    const workspace = words[0] === "pnpm" && word === "-w" ? null : WORKSPACE_OPTION.exec(word);
    if (folder !== null) folders.push(folder[1] ?? words[++index] ?? ".");
    else if (workspace !== null) members.push(workspace[1] ?? words[++index] ?? "");
    else if (words[0] === "yarn" && word === "workspace" && rest.length === 1) members.push(words[++index] ?? "");
    else rest.push(word);
  }
  // `server...` includes the packages that it depends on.
  return { folders, members: members.map((each) => each.replace(/^\{(.*)\}$/, "$1").replace(/\.{3}$/, "")), rest };
}
