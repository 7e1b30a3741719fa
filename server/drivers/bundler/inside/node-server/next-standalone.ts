import { cpSync, existsSync } from "node:fs";
import path from "node:path";
import { isFile } from "../package-json.ts";

const STANDALONE = ".next/standalone";

/** Commands that serve the build of Next.js as `node server.js` of its standalone output does. */
const STARTS_NEXT = /^(?:\w+=\S+ )*(?:(?:npx )?next start\b[^&|;]*|node (?:\.\/)?\.next\/standalone\/\S*server\.js)$/;

export interface StandaloneServer {
  command: string;
  /** The folder with all files of the server, relative to the folder of the project. */
  files: string;
  /** Where the command runs, relative to these files. */
  directory: string;
}

/**
 * Completes the standalone output of Next.js as its documentation says: it lacks the static files, which a CDN could serve.
 *
 * @returns `null` if the server does not start that, or Next.js wrote none
 */
export function completeStandalone(command: string): StandaloneServer | null {
  if (!STARTS_NEXT.test(command.trim())) return null;
  // In a workspace, the server has the same path below the root as the project.
  const names = process.cwd().split("/").filter(Boolean);
  const directory = names
    .map((_, index) => names.slice(index).join("/"))
    .concat(".")
    .find((each) => isFile(path.join(STANDALONE, each, "server.js")));
  if (directory === undefined) return null;
  const server = path.join(STANDALONE, directory);
  for (const [from, to] of [
    ["public", "public"],
    [".next/static", ".next/static"],
  ] as const)
    if (existsSync(from)) cpSync(from, path.join(server, to), { recursive: true, force: true });
  return { command: "node server.js", files: STANDALONE, directory };
}
