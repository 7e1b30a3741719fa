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
export function folderOptions(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const match = FOLDER_OPTION.exec(word);
    return match === null ? [] : [match[1] ?? words[index + 1] ?? "."];
  });
}
