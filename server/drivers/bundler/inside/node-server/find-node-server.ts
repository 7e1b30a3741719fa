import { readFileSync } from "node:fs";
import { planFastify } from "./fastify-launcher.ts";
import { findCommonFiles, resolveStartFile } from "./find-start-file.ts";
import { importsBundler, importsServerModule, type NodeServer } from "./plan-node-server.ts";
import { readStartFile, type StartCommand } from "./start-command.ts";

/** Signs of a script that exports a handler or registers one. */
const HANDLER = /\bexport\s+default\b|\bas\s+default\b|\baddEventListener\s*\(\s*["'`]fetch/;
const ANY_IMPORT = /\bimport\b|\brequire\s*\(|\bfrom\s*["']/;

/**
 * Finds the file that starts a Node server: the one that the start command runs, the entry of the project, or a common name.
 *
 * @param entry - the script that is deployed if there is no server
 * @returns `null` when no file is a server, or the entry exports a handler and works without Node's servers
 */
export async function findNodeServer(
  command: StartCommand | null,
  entry: string | undefined,
): Promise<NodeServer | null> {
  const fastify = planFastify(command);
  if (fastify !== null) return fastify;
  const named = readStartFile(command);
  const start = named === null ? undefined : resolveStartFile(named);
  if (entry !== undefined && hasHandler(entry) && !(await isServer(entry, "worker"))) return null;
  for (const file of new Set([start, entry, ...findCommonFiles()]))
    if (file !== undefined && (await isServer(file, "node"))) return { entry: file };
  return null;
}

/**
 * Finds the server that the start command runs, of a project whose build also wrote pages, which the server serves. A server
 * for development is none.
 */
export async function findServerOfPages(command: StartCommand | null): Promise<NodeServer | null> {
  const named = readStartFile(command);
  const file = named === null ? undefined : resolveStartFile(named);
  if (file === undefined || !(await isServer(file, "node")) || (await importsBundler(file))) return null;
  return { entry: file };
}

function hasHandler(entry: string): boolean {
  return HANDLER.test(readFileSync(entry, "utf8"));
}

async function isServer(file: string, kind: "worker" | "node"): Promise<boolean> {
  return ANY_IMPORT.test(readFileSync(file, "utf8")) && (await importsServerModule(file, kind));
}
