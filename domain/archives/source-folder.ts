/** Where the command line remembers the app of a folder. */
export const STATE_FILE = ".svc-app.json";

const ALWAYS_LEFT_OUT: readonly string[] = [".git", "node_modules", STATE_FILE];
/** Files with variables of a machine, as tools of Node.js and Wrangler name them, and not the examples for them. */
const SECRETS = /^\.(env|dev\.vars)(\..+)?$/i;
const EXAMPLES = /\.(example|sample|template|defaults?)$/i;

/** Whether a file or folder is never deployed, whatever the rules of git say. */
export function isAlwaysLeftOut(name: string): boolean {
  return ALWAYS_LEFT_OUT.includes(name);
}

/** Whether a file has secrets by its name, without folders. Clients leave it out and say so. */
export function isSecretFile(name: string): boolean {
  return SECRETS.test(name) && !EXAMPLES.test(name);
}

/** The rules of one `.gitignore`, which count for what is below its folder. */
export interface IgnoreRules {
  /** Relative to the root, without a slash at its end; empty for the root. */
  folder: string;
  rules: { test: (path: string) => { ignored: boolean; unignored: boolean } };
}

/**
 * Whether git would ignore a path. The rules of an inner folder win over those of an outer one.
 *
 * @param path - of a file, or of a folder with a slash at its end
 * @param all - of the folders above the path, from the root
 */
export function isIgnored(path: string, all: readonly IgnoreRules[]): boolean {
  for (const { folder, rules } of all.toReversed()) {
    const { ignored, unignored } = rules.test(folder === "" ? path : path.slice(folder.length + 1));
    if (ignored || unignored) return ignored;
  }
  return false;
}

/** Longer names of apps are refused. */
const NAME_LENGTH = 100;

/** Returns the name of an app that is deployed from a folder or an archive of this name. */
export function toAppName(name: string): string {
  const printable = name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "").trim();
  return printable === "" ? "app" : printable.slice(0, NAME_LENGTH).trim();
}
