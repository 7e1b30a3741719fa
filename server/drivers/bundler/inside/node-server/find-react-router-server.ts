import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { resolveFile } from "./find-start-file.ts";
import type { NodeServer } from "./plan-node-server.ts";
import { NODE_SERVER_FOLDER } from "./runtime-folders.ts";
import { readStartFile, type StartCommand } from "./start-command.ts";

/** Frameworks whose build for Node exports routes, by the id of the framework detection, and the program that serves them. */
const FRAMEWORKS: Readonly<Record<string, { program: string; handlerPackage: string }>> = {
  "react-router": { program: "react-router-serve", handlerPackage: "react-router" },
  remix: { program: "remix-serve", handlerPackage: "@remix-run/node" },
};

const SERVER = "build/server/index.js";
const STATIC_FILES = "build/client";

/**
 * Finds the server that React Router or Remix built for Node, which exports its routes and does not listen. A module of the
 * platform creates the request handler, as react-router-serve does.
 *
 * @returns `null` if there is none, or if the start script runs a server of the project
 */
export function findRequestHandler(framework: string | null, command: StartCommand | null): NodeServer | null {
  const found = framework !== null && Object.hasOwn(FRAMEWORKS, framework) ? FRAMEWORKS[framework] : undefined;
  if (found === undefined || readStartFile(command) !== null) return null;
  const named = command?.program === found.program ? command.args.find((word) => !word.startsWith("-")) : undefined;
  const entry = resolveFile(named ?? SERVER);
  if (entry === undefined) return null;
  const text = readFileSync(entry, "utf8");
  const assets = /\bassetsBuildDirectory = ["']([^"']+)["']/.exec(text)?.[1] ?? STATIC_FILES;
  if (!text.includes("assetsBuildDirectory") || !existsSync(assets)) return null;
  return { entry, launcher: launcher(entry, found.handlerPackage), assets: path.normalize(assets) };
}

function launcher(entry: string, handlerPackage: string): string {
  return `import { createRequestHandler } from ${JSON.stringify(handlerPackage)};
import * as build from ${JSON.stringify(path.posix.relative(NODE_SERVER_FOLDER, entry))};
const handle = createRequestHandler(build, "production");
export default { fetch: (request) => handle(request) };
`;
}
