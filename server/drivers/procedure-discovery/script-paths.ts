/** At most this many paths of one kind are tried, because each one costs a request. */
const MAX_PATHS = 12;

export const QUOTE = "[\"'`]";

/** The mount of a part of an app, such as `basePath: "/api"` or `.route("/api", ...)`. */
export const MOUNT = new RegExp(
  `(?:\\b(?:basePath|prefix):\\s*|\\.(?:basePath|route|mount|use|group)\\(\\s*)${QUOTE}(\\/[\\w.~-][\\w.~/-]{0,100}?)(?:\\/\\*)?${QUOTE}`,
  "g",
);

/** Returns the paths of a script that a group of the pattern matched, the first ones only. */
export function findPaths(script: string, pattern: RegExp): string[] {
  const paths = new Set<string>();
  for (const [, ...groups] of script.matchAll(pattern)) {
    const path = groups.find((group) => group !== undefined);
    if (path !== undefined && isInApp(path)) paths.add(path);
    if (paths.size === MAX_PATHS) break;
  }
  return [...paths];
}

/** `//` at the start would be followed by a host. A client could resolve `.` and `..`, and call another path. */
function isInApp(path: string): boolean {
  return !path.startsWith("//") && !path.split("/").some((segment) => segment === "." || segment === "..");
}

/** Removes slashes at the end, and paths that consist of nothing else. */
export function withoutFinalSlash(paths: readonly string[]): string[] {
  return paths.map((path) => path.replace(/(?<!\/)\/+$/, "")).filter((path) => path !== "");
}
