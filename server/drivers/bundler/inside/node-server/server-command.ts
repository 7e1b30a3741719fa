import { readFileSync, statSync } from "node:fs";
import { findEntry, isFile, type PackageJson } from "../package-json.ts";
import { replaceBun, runFile, runsBun } from "./bun-programs.ts";
import { findCommonFiles, inFolder, resolveStartFile, type StartFile } from "./find-start-file.ts";
import { readProcessLine } from "./procfile.ts";
import type { ServerDatabase } from "./server-database.ts";
import { importsBundler, importsServerModule, mayListen } from "./server-imports.ts";
import { readStartCommand, readStartFile, type StartCommand } from "./start-command.ts";
import { readStartText } from "./start-text.ts";

/** How a project starts its own server. */
export interface ServerPlan {
  /** For a shell, in the folder of the project. */
  command: string;
  framework: string | null;
  database: ServerDatabase;
}

/** Signs of a script that exports a handler or registers one. */
const HANDLER = /\bexport\s+default\b|\bas\s+default\b|\baddEventListener\s*\(\s*["'`]fetch/;
const ANY_IMPORT = /\bimport\b|\brequire\s*\(|\bfrom\s*["']/;

/** What starts the build of a framework for Node.js, if package.json has no start script. */
const BUILT_SERVERS: Readonly<Record<string, readonly (readonly [file: string, command: string])[]>> = {
  next: [[".next/BUILD_ID", "next start"]],
  nuxt: [[".output/server/index.mjs", "node .output/server/index.mjs"]],
  nitro: [[".output/server/index.mjs", "node .output/server/index.mjs"]],
  astro: [["dist/server/entry.mjs", "node dist/server/entry.mjs"]],
  "svelte-kit": [["build/index.js", "node build/index.js"]],
  remix: [["build/server/index.js", "remix-serve build/server/index.js"]],
  "react-router": [["build/server/index.js", "react-router-serve build/server/index.js"]],
  "tanstack-start": [[".output/server/index.mjs", "node .output/server/index.mjs"]],
  "solid-start": [[".output/server/index.mjs", "node .output/server/index.mjs"]],
  nest: [["dist/main.js", "node dist/main.js"]],
};

/** Programs that start what a framework has built. */
const FRAMEWORKS = new Set([
  ...["next", "nuxt", "nuxi", "nest", "remix-serve", "react-router-serve", "react-router", "strapi", "vinxi"],
  ...["fastify", "feathers", "medusa", "payload", "keystone", "directus"],
]);

/** Programs that serve a project while it is developed, and those that serve only static files. */
const DEVELOPMENT_SERVERS = new Set([
  ...["vite", "webpack", "webpack-dev-server", "react-scripts", "react-app-rewired", "craco", "vue-cli-service", "ng"],
  ...["parcel", "gatsby", "eleventy", "hexo", "gulp", "grunt", "rollup", "snowpack", "stencil", "expo", "electron"],
  ...["electron-forge", "docusaurus", "vitepress", "vuepress", "storybook", "start-storybook", "browser-sync", "tauri"],
  ...["live-server", "http-server", "serve", "lite-server", "wrangler", "astro", "jest", "vitest", "ember", "ionic"],
  ...["preact", "umi", "max", "slidev", "quasar", "jekyll", "hugo", "tsc", "echo", "cargo", "docker", "docker-compose"],
  ...["npm-run-all", "run-p", "concurrently", "turbo", "nx", "lerna", "rsbuild", "rspack", "farm", "redwood", "exit"],
]);

/**
 * Finds how the built project starts its server: by its Procfile, its start script, the build of its framework, or a file that
 * listens.
 *
 * @param entry - the script that would be a Worker
 * @returns `null` for a project that has no server
 */
export async function findServerCommand(
  packageJson: PackageJson,
  framework: string | null,
  entry: string | undefined,
): Promise<string | null> {
  const command = readStartCommand(packageJson);
  const started = await findStartedServer(packageJson, framework, { command, entry });
  if (started !== null) return readWebProcess() ?? started;
  if (entry !== undefined && hasHandler(entry) && !(await isServer(entry, "worker"))) return null;
  const common = findCommonFiles();
  // What a build wrote comes before its source.
  const built = common.filter((file) => /^(dist|build)\//.test(file));
  const files = [...built, entry, ...common]
    .filter((file) => file !== undefined)
    .filter((file) => !isScriptOfPage(file));
  for (const file of new Set(files)) if (await isServer(file, "node")) return readWebProcess() ?? serveFile(file);
  return null;
}

/** Whether the page of the project loads a file, which is thus a script for browsers. Packages that it imports can import `node:http`. */
function isScriptOfPage(file: string): boolean {
  if (!isFile("index.html")) return false;
  const sources = readFileSync("index.html", "utf8").matchAll(/<script\b[^>]*\ssrc=["']?([^"'\s>?]+)/gi);
  return sources.some(([, source = ""]) => source.replace(/^\.?\//, "") === file);
}

/** As `findServerCommand`, for a project that is a Node server according to its owner, whatever its files export. */
export async function findRequestedServer(packageJson: PackageJson, framework: string | null): Promise<string | null> {
  const command = readWebProcess() ?? (await findServerCommand(packageJson, framework, undefined));
  return command ?? findServerCommand(packageJson, framework, findEntry(packageJson));
}

/** A process that starts with Bun is started as package.json says. */
function readWebProcess(): string | null {
  const line = readProcessLine("web");
  return line !== null && runsBun(line) ? null : line;
}

async function findStartedServer(
  packageJson: PackageJson,
  framework: string | null,
  { command, entry }: { command: StartCommand | null; entry: string | undefined },
): Promise<string | null> {
  const built = (framework === null ? [] : (BUILT_SERVERS[framework] ?? [])).find(([file]) => isFile(file));
  const text = readStartText(packageJson);
  if (command === null || text === null) return built?.[1] ?? null;
  if (DEVELOPMENT_SERVERS.has(command.program)) return built?.[1] ?? null;
  const named = readStartFile(command);
  // The server of a framework, such as `next start` and `nest start`.
  if (named === null) return isDevelopment(command) ? (built?.[1] ?? null) : text;
  const file = resolveStartFile(named);
  if (file === undefined) return built?.[1] ?? null;
  const isWorker = file === entry && hasHandler(file) && !(await isServer(file, "worker"));
  if (isWorker) return null;
  const place = { named, file, folder: command.folder };
  return command.program === "bun" ? replaceBun(text, place) : replaceMissingFile(text, place);
}

/** The start command names a file that a compiler did not write. Node.js runs its source. */
function replaceMissingFile(text: string, place: StartFile): string {
  const { named, file } = place;
  if (isFile(named) || !/\.[cm]?ts$/.test(file) || /\btsx?\b|ts-node/.test(text)) return text;
  return text.replace(inFolder(named, place), inFolder(file, place));
}

/** Whether a command starts a server that is meant for production. */
export function startsServer(command: StartCommand): boolean {
  const isForPages = DEVELOPMENT_SERVERS.has(command.program);
  return !isForPages && !isDevelopment(command) && (readStartFile(command) !== null || FRAMEWORKS.has(command.program));
}

function isDevelopment({ program, args }: StartCommand): boolean {
  return (
    ["next", "nuxt", "nuxi", "remix", "react-router", "strapi", "vinxi"].includes(program) &&
    /^dev(elop)?$/.test(args[0] ?? "")
  );
}

/** A file that listens and whose pages a build wrote too. A server for development is none. */
export async function servesPages(packageJson: PackageJson): Promise<boolean> {
  const named = readStartFile(readStartCommand(packageJson));
  return named !== null && (await runsServer(named));
}

/** Whether a file that a start command names is that of a server, and not of one for development. */
export async function runsServer(named: string): Promise<boolean> {
  const file = resolveStartFile(named);
  return file !== undefined && (await isServer(file, "node")) && !(await importsBundler(file));
}

/** See serve-handler.mjs. */
const HANDLER_SERVER = "/opt/bundler/node-server/serve-handler.mjs";
const EXPORT = /\bexport\s+default\b|\bas\s+default\b|\bmodule\.exports\s*=/;

/** Runs a file. If it exports its request handler and nothing listens, as for the functions of Vercel, listens in its place. */
async function serveFile(file: string): Promise<string> {
  const isHandler = EXPORT.test(readFileSync(file, "utf8")) && /^[\w./-]+$/.test(file);
  if (!isHandler || (await mayListen(file))) return runFile(file);
  // Vercel serves the files of this folder before it calls a function.
  if (isFolder("public")) return `node ${HANDLER_SERVER} ${file}`;
  const statements = [
    `import { createServer } from "node:http"`,
    `import app from "./${file}"`,
    // Koa has a function that returns its handler.
    "createServer(app.callback?.() ?? app).listen(process.env.PORT)",
  ];
  return `node --input-type=module --eval '${statements.join("; ")}'`;
}

function isFolder(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
}

function hasHandler(file: string): boolean {
  return HANDLER.test(readFileSync(file, "utf8"));
}

async function isServer(file: string, kind: "worker" | "node"): Promise<boolean> {
  return ANY_IMPORT.test(readFileSync(file, "utf8")) && (await importsServerModule(file, kind));
}
