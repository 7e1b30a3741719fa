import { findPaths, MOUNT, QUOTE, withoutFinalSlash } from "./script-paths.ts";

const USUAL_PATHS = ["/trpc", "/api/trpc"];
/** tRPC's own HTTP server has no path of its own. */
const ROOT = "";
/** At most this many paths are tried, because each one costs a request. */
const MAX_PATHS = { likely: 20, nested: 12 };

/** What may follow a path in a route: `/*`, `/:path`, `/{*path}`, `/$`. */
const REST = "(?:\\/[*:{($][^\"'`\\n]{0,60})?";

/**
 * Options of tRPC's adapters, and the mount of a middleware: `endpoint: "/rpc"`, `app.use("/rpc", ...)`. Also a value
 * whose name has `trpc` in it: `TRPC_PATH = "/rpc"`.
 */
const MOUNTED = new RegExp(
  `(?:\\b(?:endpoint|prefix|basePath):\\s*|\\.(?:use|all|startsWith)\\(\\s*|trpc\\w{0,30} ?[:=] ?)${QUOTE}(\\/[\\w./-]{1,100}?)${REST}${QUOTE}`,
  "gi",
);
const NAMED = new RegExp(`${QUOTE}(\\/[\\w./-]{0,100}?trpc[\\w./-]{0,50}?)${REST}${QUOTE}`, "gi");

/**
 * The paths at which an app may serve a tRPC router, the most likely ones first. They have no `/` at the end.
 *
 * @param routes - the paths of routes that are files
 */
export function guessTrpcPaths(script: string, routes: readonly string[]): string[] {
  const named = withoutFinalSlash([...findPaths(script, NAMED), ...findPaths(script, MOUNTED)]);
  const likely = [...new Set([...USUAL_PATHS, ...routes, ...named])].slice(0, MAX_PATHS.likely);
  // A router of Express, for example, has a path and is mounted at another one.
  const mounts = withoutFinalSlash(findPaths(script, MOUNT)).filter((path) => !/rpc/i.test(path));
  const nested = mounts.flatMap((mount) => ["/trpc", ...named].map((path) => `${mount}${path}`));
  return [...new Set([...likely, ROOT, ...nested.slice(0, MAX_PATHS.nested)])];
}

/** The folders below which frameworks have their routes. Those of the first group can be in one of the second. */
const ROUTE_FOLDERS = [new Set(["pages", "routes"]), new Set(["app", "server"])];
/** A segment for any text, in the notations of Next.js, Nuxt, SvelteKit and Astro, and of Remix and TanStack Router. */
const ANY_SEGMENT = /^(?:\[|\$)/;

/**
 * The path of the tRPC router that a file serves in a framework whose routes are files: `/api/trpc` for
 * `src/app/api/trpc/[trpc]/route.ts`, `server/api/trpc/[trpc].ts` and `app/routes/api.trpc.$trpc.ts`.
 *
 * @param file - relative, with `/`
 * @returns `null` for any other file
 */
export function routeOfFile(file: string): string | null {
  const folders = file.split("/");
  const at = ROUTE_FOLDERS.map((names) => folders.findLastIndex((each) => names.has(each))).find((index) => index >= 0);
  if (at === undefined) return null;
  const route = folders.slice(at + 1);
  if (!/trpc/i.test(route.join("/"))) return null;
  const parts = route.some((each) => each.includes("$")) ? route.flatMap((each) => each.split(".")) : route;
  const segments = parts.filter((each) => !/^\(.*\)$/.test(each));
  const end = segments.findIndex((segment) => ANY_SEGMENT.test(segment));
  const fixed = segments.slice(0, end);
  const isPath = end > 0 && fixed.every((segment) => /^[\w-]+$/.test(segment));
  return isPath ? `/${fixed.join("/")}` : null;
}
