import type { IsolatedApp } from "../../ports/isolated-runtime.ts";
import { listToolsAt } from "./mcp-tools.ts";
import { AppResponseError, requestApp } from "./request-app.ts";
import { findPaths, MOUNT, QUOTE, withoutFinalSlash } from "./script-paths.ts";
import type { SourceResult } from "./source-result.ts";

const USUAL_PATH = "/mcp";
/** At most this many other paths are tried, because each one costs two requests. */
const MAX_GUESSES = 12;
/** Another endpoint of the app may respond slowly or never. */
const GUESS_TIMEOUT_MS = 3000;
const TOO_OLD =
  "The app's script names a path that ends in /sse, and no MCP endpoint was found. The transport HTTP+SSE of MCP, which revision 2025-03-26 replaced, is not supported. Serve the tools over Streamable HTTP at /mcp.";

/**
 * Lists the tools of the app's MCP endpoint: at `/mcp`, otherwise at a path that its script names.
 *
 * @returns `null` when the app has no MCP endpoint
 * @throws {AppResponseError}
 */
export async function listMcpTools(
  app: IsolatedApp,
  script: string,
  signal: AbortSignal,
): Promise<SourceResult | null> {
  const usual = await listToolsAt(app, USUAL_PATH, signal);
  if (usual !== null) return usual;
  for (const path of guessMcpPaths(script)) {
    const guessed = await tryPath(app, path, signal);
    if (guessed !== null) return guessed;
  }
  if (!mentionsTools(script)) return null;
  const status = await readStatus(app, signal);
  const failed = `The app's MCP endpoint at ${USUAL_PATH} failed with status ${status} in a test run without network and bindings.`;
  const problems = [...(status >= 500 ? [failed] : []), ...(SSE_PATH.test(script) ? [TOO_OLD] : [])];
  return problems.length === 0 ? null : { candidates: [], problems };
}

/** The status with which the usual path responds to a handshake. */
async function readStatus(app: IsolatedApp, signal: AbortSignal): Promise<number> {
  const clientInfo = { name: "procedure-discovery", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const { status } = await requestApp(app, { path: USUAL_PATH, method: "POST", headers, body }, signal);
  return status;
}

/** @returns `null` also for a path at which something else fails or does not respond in time */
async function tryPath(app: IsolatedApp, path: string, signal: AbortSignal): Promise<SourceResult | null> {
  const timeout = AbortSignal.timeout(GUESS_TIMEOUT_MS);
  try {
    return await listToolsAt(app, path, AbortSignal.any([signal, timeout]));
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted || error instanceof AppResponseError) return null;
    throw error;
  }
}

const PATH = "\\/[\\w.~-][\\w.~/-]{0,100}";

/** A path with `mcp` in it, with or without a wildcard at the end. */
const MCP_PATH = new RegExp(`${QUOTE}(\\/[\\w.~/-]{0,100}mcp[\\w.~/-]{0,50}?)(?:\\/\\*)?${QUOTE}`, "gi");
/** The path of a route, or a path that is compared with the one of a request. */
const ROUTE = new RegExp(
  `(?:[!=]==?\\s*|\\bcase\\s*|\\b(?:all|post|serve|startsWith|endsWith)\\(\\s*|\\b(?:endpoint|path|route|streamableHttpEndpoint):\\s*)${QUOTE}(${PATH})${QUOTE}|${QUOTE}(${PATH})${QUOTE}\\s*[!=]==?`,
  "g",
);
const SSE_PATH = /["'`](?:\/[\w.~-]{1,50}){0,4}\/sse["'`]/;

/** The paths at which the app may serve MCP besides the usual one, the most likely ones first. */
function guessMcpPaths(script: string): string[] {
  const named = findEndpoints(script, MCP_PATH).filter((path) => !/\.\w+$|\/(?:sse|messages?)$|well-known/.test(path));
  const mounted = findEndpoints(script, MOUNT).map((path) => `${path}${USUAL_PATH}`);
  // Every implementation of tools contains the name of this method, so any path may be that of the endpoint.
  const others = mentionsTools(script) ? [...findEndpoints(script, ROUTE), "/"] : [];
  const paths = new Set([...named, ...mounted, ...others]);
  paths.delete(USUAL_PATH);
  return [...paths].slice(0, MAX_GUESSES);
}

function mentionsTools(script: string): boolean {
  return script.includes("tools/list");
}

function findEndpoints(script: string, pattern: RegExp): string[] {
  return withoutFinalSlash(findPaths(script, pattern));
}
