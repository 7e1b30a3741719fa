import path from "node:path";
import { z } from "zod";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { readHead } from "./package-manager-version.ts";

/** A version of Node.js that a project names and the toolchain does not have. */
export interface WantedNode {
  /** Versions for the package registry, the preferred one first: `["20.11.1", "20"]`. */
  specs: readonly string[];
  major: number;
  /** Where the project names it, such as `.nvmrc`. */
  source: string;
}

const MAX_BYTES = 1024 * 1024;

/** The versions that get security fixes. */
const MAINTAINED = [24, 22, 26];
/** Older ones that the registry has too, and projects still name. */
const OTHERS = [25, 23, 21, 20, 19, 18, 17, 16, 15, 14, 12];

/** The versions, from the newest to the oldest, in which old packages are tried that do not compile in a newer one. */
const OLDER = [22, 20, 18, 16];

/** The names of versions with long-term support. */
const LTS_NAMES: Readonly<Record<string, number>> = {
  erbium: 12,
  fermium: 14,
  gallium: 16,
  hydrogen: 18,
  iron: 20,
  jod: 22,
  krypton: 24,
};

const text = z.string().optional().catch(undefined);
const manifestSchema = z.object({
  engines: z.object({ node: text }).optional().catch(undefined),
  volta: z.object({ node: text }).optional().catch(undefined),
});

/**
 * Returns the version of Node.js that a project names in `volta`, .nvmrc, .node-version or `engines`, the first of them that
 * names one. A range of which only the minor version decides is treated as its major version.
 *
 * @param directories - the folder of the package, and the one in which packages are installed
 * @returns `null` if the project names none, or accepts the one of the toolchain
 */
export async function readWantedNode(
  directories: readonly string[],
  current = process.versions.node,
): Promise<WantedNode | null> {
  const own = Number.parseInt(current, 10);
  const named = await readNamedNode(directories);
  if (named === null) return null;
  if ("major" in named) return named.major === own ? null : named;
  if (admitsMajor(named.range, own)) return null;
  const major = [...MAINTAINED, ...OTHERS].find((each) => admitsMajor(named.range, each));
  return major === undefined ? null : { specs: [String(major)], major, source: "engines of package.json" };
}

/**
 * Returns the older major versions of Node.js, the newest first, in which a project may run if it does not compile in the one of the
 * toolchain: those that its range admits, or all of them if it names no version.
 */
export async function readOlderNodes(
  directories: readonly string[],
  current = process.versions.node,
): Promise<number[]> {
  const own = Number.parseInt(current, 10);
  const named = await readNamedNode(directories);
  if (named === null) return OLDER.filter((major) => major < own);
  if ("major" in named || !admitsMajor(named.range, own)) return [];
  return OLDER.filter((major) => major < own && admitsMajor(named.range, major));
}

/** The version or the range that a project names, whichever it names first. */
async function readNamedNode(directories: readonly string[]): Promise<WantedNode | { range: string } | null> {
  for (const directory of directories) {
    const manifest = await readManifest(directory);
    const named: readonly (readonly [string, string | undefined])[] = [
      ["volta of package.json", manifest.volta?.node],
      [".nvmrc", await readHead(path.join(directory, ".nvmrc"))],
      [".node-version", await readHead(path.join(directory, ".node-version"))],
    ];
    for (const [source, version] of named) {
      const exact = parseVersion(version ?? "");
      if (exact !== null) return { ...exact, source };
    }
    const range = manifest.engines?.node?.trim() ?? "";
    if (range !== "") return { range };
  }
  return null;
}

export function isMaintained({ major }: Pick<WantedNode, "major">): boolean {
  return MAINTAINED.includes(major);
}

async function readManifest(directory: string): Promise<z.infer<typeof manifestSchema>> {
  try {
    return manifestSchema.parse(
      JSON.parse((await readUntrusted(path.join(directory, "package.json"), MAX_BYTES)) ?? "{}"),
    );
  } catch {
    return {};
  }
}

/** Parses `20`, `v20.11`, `20.11.1` and `lts/iron`. Every other name, such as `lts/*`, is the version of the toolchain. */
function parseVersion(line: string): Omit<WantedNode, "source"> | null {
  const word = line.replaceAll(/#.*$/gm, "").trim().split(/\s/)[0] ?? "";
  const named = LTS_NAMES[/^lts\/(\w+)$/i.exec(word)?.[1]?.toLowerCase() ?? ""];
  if (named !== undefined) return { specs: [String(named)], major: named };
  const version = /^(?:node-?)?v?(\d{1,2}(?:\.\d{1,3}){0,2})(?:\.x)*$/i.exec(word)?.[1];
  if (version === undefined) return null;
  const major = Number.parseInt(version, 10);
  return { specs: [...new Set([version, String(major)])], major };
}

/** Whether a range of npm, such as `>=18 <21 || ^22.1.0`, admits any version of a major version. */
function admitsMajor(range: string, major: number): boolean {
  return range.split("||").some((alternative) => {
    const hyphen = /^\s*v?(\d+)\S*\s+-\s+v?(\d+)\S*\s*$/.exec(alternative);
    if (hyphen) return major >= Number(hyphen[1]) && major <= Number(hyphen[2]);
    const comparators = [...alternative.matchAll(/(>=|<=|>|<|\^|~>?|=)?\s*v?(\d+)((?:\.[\dx*]+)*)/g)];
    return comparators.every(([, operator = "=", number, rest = ""]) => {
      const bound = Number(number);
      const isWhole = !/[1-9]/.test(rest);
      if (operator === ">=") return major >= bound;
      if (operator === "<=") return major <= bound;
      if (operator === ">") return isWhole && rest === "" ? major > bound : major >= bound;
      if (operator === "<") return isWhole ? major < bound : major <= bound;
      return major === bound;
    });
  });
}
