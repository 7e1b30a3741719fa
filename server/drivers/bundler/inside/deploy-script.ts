import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { isFile, type PackageJson } from "./package-json.ts";

/** What a script of a package.json deploys with wrangler. The paths are relative to the package, and exist. */
export interface DeployScript {
  /** The main script: `wrangler deploy src/index.ts`. */
  entry: string | null;
  /** The folder of static files: `wrangler deploy --assets public`. */
  assets: string | null;
  /** The folder of a Pages project: `wrangler pages deploy dist`. */
  pages: string | null;
}

const COMMAND = /(?:^|[\s&;|])wrangler\s+(pages\s+)?(?:deploy|publish)(?=[\s&;|]|$)([^&;|]*)/;

/** The options of wrangler that have no value. */
const SWITCHES: ReadonlySet<string> = new Set([
  "--commit-dirty",
  "--dry-run",
  "--keep-vars",
  "--latest",
  "--minify",
  "--no-bundle",
  "--skip-caching",
  "--strict",
]);

/** Reads the first script that deploys with wrangler, preferably the one with the name `deploy`. */
export function readDeployScript({ scripts = {} }: PackageJson): DeployScript | null {
  for (const command of [scripts["deploy"], ...Object.values(scripts)]) {
    const match = typeof command === "string" ? COMMAND.exec(command) : null;
    if (match === null) continue;
    const { positional, options } = readArguments(match[2] ?? "");
    const isPages = match[1] !== undefined;
    return {
      entry: isPages ? null : existing(positional, isFile),
      assets: isPages ? null : existing(options.get("--assets"), isFolder),
      pages: isPages ? existing(positional, isFolder) : null,
    };
  }
  return null;
}

function readArguments(text: string): { positional: string | undefined; options: Map<string, string> } {
  const words = text.split(/\s+/).map((word) => word.replaceAll(/^["']|["']$/g, ""));
  const options = new Map<string, string>();
  let positional: string | undefined;
  for (let index = 0; index < words.length; index++) {
    const [name = "", value] = (words[index] ?? "").split(/=(.*)/s, 2);
    if (!name.startsWith("-")) positional ??= name || undefined;
    else if (value !== undefined) options.set(name, value);
    else if (!SWITCHES.has(name) && words[index + 1] !== undefined) options.set(name, words[++index] ?? "");
  }
  return { positional, options };
}

function existing(file: string | undefined, isKind: (file: string) => boolean): string | null {
  if (file === undefined || path.isAbsolute(file)) return null;
  const normalized = path.normalize(file);
  return !normalized.startsWith("..") && existsSync(normalized) && isKind(normalized) ? normalized : null;
}

function isFolder(file: string): boolean {
  return statSync(file).isDirectory();
}
