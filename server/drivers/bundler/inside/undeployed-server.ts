import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { isFile } from "./package-json.ts";

/** Where a server beside the pages commonly starts, in the order of preference. */
const OWN_FILES = [
  "server.{js,mjs,cjs,ts,mts}",
  "{server,api,backend}/{index,server,app,main}.{js,mjs,cjs,ts,mts}",
  "{server,api,backend}/src/{index,server,app,main}.{js,mjs,cjs,ts,mts}",
];
/** Names of folders with pages, beside which the folder of a server can be. */
const PAGES_FOLDERS = new Set(["client", "frontend", "front-end", "web", "ui", "webapp"]);
const SIBLING_FILES = OWN_FILES.slice(1).map((pattern) => `../${pattern}`);
/** The functions of Vercel. */
const FUNCTION_FILES = "api/**/*.{js,mjs,ts,mts}";

const SERVER_PACKAGE =
  /(?:\bfrom|\brequire\s*\(|\bimport)\s*["'](?:node:https?|https?|express|fastify|koa|@hapi\/hapi|polka|restify|@hono\/node-server|socket\.io|ws|@nestjs\/core|@apollo\/server\/standalone)["']/;
const LISTENS = /\.listen\s*\(|\bserve\s*\(|\bstartStandaloneServer\s*\(|\bWebSocketServer\s*\(/;
/** What a server for development imports. */
const DEVELOPMENT =
  /["'](?:vite|webpack|webpack-dev-[\w-]+|rollup|parcel|esbuild|browser-sync|http-proxy-middleware)["']/;
const SERVES_FILES = /\bexpress\.static\b|["'](?:sirv|serve-static|serve-handler|koa-static|@fastify\/static)["']/;
/** A path that is more than all paths or the root. */
const ROUTE = /\.(?:get|post|put|patch|delete|all|use|route|register)\s*\(\s*["'`]\/?(?![*{(/"'`])[\w:]/;
const FUNCTION_HANDLER =
  /\bexport\s+default\s+(?:async\s+)?(?:function\b[^(]{0,80})?\(\s*_?(?:req|request)\b|\bexport\s+(?:async\s+)?function\s+(?:GET|POST|PUT|PATCH|DELETE)\b/;

const MAX_FILES = 100;
const MAX_LENGTH = 256 * 1024;

/**
 * Warns of a server of the repository, if only the static files are deployed. Returns an empty list if there is none, or if it
 * serves only the files.
 *
 * @param directory - the folder of the static files
 */
export function describeUndeployedServer(directory: string): string[] {
  const folder = path.basename(process.cwd());
  const patterns = PAGES_FOLDERS.has(folder) ? [...OWN_FILES, ...SIBLING_FILES] : OWN_FILES;
  const file = patterns.flatMap((pattern) => globSync(pattern).toSorted()).find(isUndeployed);
  if (file !== undefined) return [describeServer(file, directory)];
  const handler = globSync(FUNCTION_FILES).toSorted().slice(0, MAX_FILES).find(isFunction);
  if (handler === undefined) return [];
  return [
    `${handler} is a function of Vercel, which was not deployed: only the static files in ${directory} were. To deploy it too, write it as a function of Pages in the folder functions, or as a Node server.`,
  ];
}

function describeServer(file: string, directory: string): string {
  const name = file.startsWith("../") ? file.slice("../".length) : file;
  const advice = isFile(
    path.join(
      file
        .split("/")
        .slice(0, file.startsWith("../") ? 2 : 1)
        .join("/"),
      "package.json",
    ),
  )
    ? "Deploy it as an app of its own, with root_directory set to its folder."
    : `To deploy both as one Node server, let "start" in package.json run it, and let it serve the files in ${directory}.`;
  return `${name} starts a server, which was not deployed: only the static files in ${directory} were. ${advice}`;
}

function isUndeployed(file: string): boolean {
  const text = read(file);
  if (!SERVER_PACKAGE.test(text) || !LISTENS.test(text) || DEVELOPMENT.test(text)) return false;
  return !SERVES_FILES.test(text) || ROUTE.test(text);
}

function isFunction(file: string): boolean {
  return FUNCTION_HANDLER.test(read(file));
}

function read(file: string): string {
  return isFile(file) ? readFileSync(file, "utf8").slice(0, MAX_LENGTH) : "";
}
