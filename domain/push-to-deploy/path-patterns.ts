import { ServiceError } from "../shared/errors.ts";

const MAX_PATTERNS = 20;
const MAX_PATTERN_LENGTH = 100;
/** A push with more than this is not compared with the patterns, and deploys. In characters of all paths. */
export const MAX_PATHS_LENGTH = 64 * 1024;

/** @throws {ServiceError} `invalid` */
export function checkPathPatterns(patterns: readonly string[]): void {
  if (patterns.length > MAX_PATTERNS)
    throw new ServiceError("invalid", `paths: must have at most ${MAX_PATTERNS} patterns.`);
  if (!patterns.every(isPattern))
    throw new ServiceError(
      "invalid",
      `paths: each must be a path in the repository without a slash at the start, of 1 to ${MAX_PATTERN_LENGTH} characters, with \`*\`, \`**\` and \`?\`. Examples: "apps/web/**", "*.json", "!docs/**".`,
    );
}

function isPattern(pattern: string): boolean {
  const glob = pattern.replace(/^!/, "");
  return (
    pattern.length <= MAX_PATTERN_LENGTH &&
    glob !== "" &&
    // Braces, brackets and extended patterns would be taken literally, which nobody expects.
    /^[^\p{Cc}/\\!{}[\]()][^\p{Cc}\\{}[\]()]*$/u.test(glob) &&
    !glob.includes("//") &&
    !glob.split("/").some((part) => part === "." || part === ".." || (part.includes("**") && part !== "**"))
  );
}

/**
 * Whether one of the changed files is one that deploys the app. A file does if a pattern matches it, and none with `!`. If all
 * patterns begin with `!`, every other file does.
 *
 * The patterns are matched in time proportional to pattern and path: translated to regular expressions, patterns with many
 * stars could stop the process.
 */
export function matchesPaths(patterns: readonly string[], paths: readonly string[]): boolean {
  const included = patterns.filter((pattern) => !pattern.startsWith("!")).map(toParts);
  const excluded = patterns.filter((pattern) => pattern.startsWith("!")).map((pattern) => toParts(pattern.slice(1)));
  return paths.some((path) => {
    const parts = path.split("/");
    const isIncluded = included.length === 0 || included.some((glob) => matchList(glob, parts, "**", matchName));
    return isIncluded && !excluded.some((glob) => matchList(glob, parts, "**", matchName));
  });
}

/** A pattern with a slash at its end is for everything in the folder. */
function toParts(glob: string): string[] {
  return (glob.endsWith("/") ? `${glob}**` : glob).split("/");
}

function matchName(glob: string, name: string): boolean {
  return matchList(
    Array.from(glob),
    Array.from(name),
    "*",
    (wanted, character) => wanted === "?" || wanted === character,
  );
}

/** Compares two lists, where `wildcard` stands for any number of items. It returns to the last wildcard only, never further. */
function matchList(
  glob: readonly string[],
  items: readonly string[],
  wildcard: string,
  matches: (wanted: string, item: string) => boolean,
): boolean {
  let [at, next] = [0, 0];
  let retry: { at: number; next: number } | null = null;
  while (next < items.length) {
    const [wanted, item] = [glob[at], items[next] ?? ""];
    if (wanted === wildcard) {
      retry = { at: at + 1, next };
      at += 1;
    } else if (wanted !== undefined && matches(wanted, item)) {
      at += 1;
      next += 1;
    } else {
      if (retry === null) return false;
      retry.next += 1;
      ({ at, next } = retry);
    }
  }
  return glob.slice(at).every((rest) => rest === wildcard);
}
