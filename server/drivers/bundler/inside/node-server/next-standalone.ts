import { cpSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { isFile } from "../package-json.ts";
import { type DockerfileCopy, readDockerfileCopies } from "./dockerfile.ts";

const STANDALONE = ".next/standalone";

const STATIC_FILES = ["public", ".next/static"].map((folder): DockerfileCopy => ({ from: folder, to: folder }));

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
 * Completes the standalone output of Next.js as its documentation says: it lacks the static files, which a CDN could serve. It may
 * also lack files that the server opens by a path that Next.js does not find in the code. A Dockerfile of the project names them.
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
  for (const { from, to } of [...STATIC_FILES, ...listNamedFiles()])
    if (existsSync(from)) cpSync(from, path.join(server, to), { recursive: true, force: true });
  return { command: "node server.js", files: STANDALONE, directory };
}

/**
 * Without packages: the standalone output has those that the server imports, and a package alone would lack its dependencies. And
 * without another `server.js`, which would need more of them.
 */
function listNamedFiles(): DockerfileCopy[] {
  if (!isFile("Dockerfile")) return [];
  return readDockerfileCopies(readFileSync("Dockerfile", "utf8")).filter(
    ({ from, to }) => !/^(?:\.next|node_modules)(?:\/|$)/.test(from) && to !== "server.js",
  );
}
