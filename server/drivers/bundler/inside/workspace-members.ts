import { existsSync, globSync, lstatSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { readManifest, readPackageJson } from "./package-json.ts";

/**
 * The folders that the patterns of the workspace at the current folder match, without those that a pattern with `!` excludes.
 * The root is not among them.
 */
export function listMembers(): string[] {
  const patterns = readPatterns().map((pattern) => pattern.replace(/^(!?)\.\//, "$1"));
  const included = patterns.filter((pattern) => !pattern.startsWith("!"));
  const excluded = patterns.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1));
  const found = globSync(
    included.map((pattern) => path.join(pattern, "package.json")),
    { exclude: (name) => path.basename(name) === "node_modules" },
  );
  return found
    .map((file) => path.dirname(file))
    .filter((directory) => directory !== "." && isInside(directory))
    .filter(
      (directory) =>
        !excluded.some((pattern) => path.matchesGlob(directory, path.normalize(`${pattern}/`).slice(0, -1))),
    )
    .toSorted();
}

/**
 * Finds a package of the workspace at the current folder, as options such as `--workspace` and `--filter` name it: by its name,
 * with or without the scope, or by its folder.
 *
 * @returns its folder; `null` if there is none
 */
export function findMember(named: string): string | null {
  const members = listMembers();
  const folder = path.normalize(named).replace(/\/$/, "");
  if (members.includes(folder)) return folder;
  const names = new Map(members.map((each) => [each, readName(each)]));
  const isNamed = (name: string) => members.find((each) => names.get(each) === name);
  const scoped = named.startsWith("@") ? undefined : members.find((each) => names.get(each)?.endsWith(`/${named}`));
  return isNamed(named) ?? scoped ?? null;
}

/** A package that cannot be read has no name: the install reports what is wrong with it. */
function readName(directory: string): string | undefined {
  try {
    const { name } = readManifest(directory);
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}

function isInside(directory: string): boolean {
  return !directory.startsWith("..") && !path.isAbsolute(directory) && lstatSync(directory).isDirectory();
}

/** `packages` of pnpm-workspace.yaml, otherwise `workspaces` of package.json: a list, or an object with the list. */
function readPatterns(): string[] {
  const file = "pnpm-workspace.yaml";
  const settings = existsSync(file) ? (parse(readFileSync(file, "utf8")) as { packages?: unknown } | null) : null;
  const { workspaces } = readPackageJson() as { workspaces?: { packages?: unknown } | unknown[] };
  const patterns = settings?.packages ?? (Array.isArray(workspaces) ? workspaces : workspaces?.packages);
  return Array.isArray(patterns) ? patterns.filter((pattern) => typeof pattern === "string") : [];
}
