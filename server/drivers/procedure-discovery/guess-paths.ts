/** At most this many paths of a script are tried, because each one costs a request. */
const MAX_PATHS = 10;

/** Options of tRPC's adapters, and the mount of a middleware: `endpoint: "/rpc"`, `app.use("/rpc", ...)`. */
const TRPC_PATH = /(?:\b(?:endpoint|prefix|basePath):\s*|\.use\(\s*|\.all\(\s*)["'`](\/[\w./-]{1,100})(?:\/\*)?["'`]/g;

/** A path that names a document. */
const OPENAPI_PATH = /["'`](\/(?:[\w.-]{1,50}\/){0,4}[\w.-]*(?:openapi|swagger|api-docs|api-json)[\w./-]{0,50})["'`]/gi;

/** The paths that a script contains and at which it may serve a tRPC router. They have no `/` at the end. */
export function guessTrpcPaths(script: string): string[] {
  return guess(script, TRPC_PATH)
    .map((path) => path.replace(/(?<!\/)\/+$/, ""))
    .filter((path) => path !== "");
}

/** The paths that a script contains and at which it may serve an OpenAPI document. */
export function guessOpenApiPaths(script: string): string[] {
  return guess(script, OPENAPI_PATH);
}

function guess(script: string, pattern: RegExp): string[] {
  const paths = new Set<string>();
  for (const [, path] of script.matchAll(pattern)) {
    if (path !== undefined) paths.add(path);
    if (paths.size === MAX_PATHS) break;
  }
  return [...paths];
}
