import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { BuildOptions, Metafile } from "esbuild";
import type { Explanation } from "../explain-server-build.ts";
import { type DataFile, listDataFiles } from "./list-data-files.ts";
import { describeMissingBuiltIns, explainNativePackage, packageFolder } from "./native-packages.ts";
import { externalBuiltIns, type NodeModulesOptions, nodeModulesPlugin } from "./node-modules-plugin.ts";
import { listRunTimeModules, runTimeModules } from "./run-time-modules.ts";
import { NODE_SERVER_FOLDER } from "./runtime-folders.ts";

const MODULES = `${NODE_SERVER_FOLDER}/modules.cjs`;
const LAUNCHER = `${NODE_SERVER_FOLDER}/launcher.mjs`;
/** The main module, whose name in the bundle no file of the repository has. */
export const NODE_SERVER_MAIN = `${NODE_SERVER_FOLDER}/__node_server.mjs`;

/** The built-in modules that a server listens with. */
const SERVER_MODULES = new Set(["http", "https", "http2", "net"].map((name) => `node:${name}`));

/** What starts a Node server. */
export interface NodeServer {
  /** The file that listens, or that the launcher imports. */
  entry: string;
  /** A module that starts the server, in the folder of the platform's modules. Absent for a file that listens itself. */
  launcher?: string;
  /** The folder of static files, which the server does not read. */
  assets?: string;
  warnings?: readonly string[];
}

/** How a Node server is bundled: a module of the platform is the main module, and loads the server. */
export interface NodeServerPlan {
  /** Files that the server can read below its working directory. */
  dataFiles: DataFile[];
  warnings: string[];
}

/** Packages of servers for development. */
const DEVELOPMENT =
  /(^|\/)node_modules\/(webpack|webpack-dev-server|vite|rollup|rolldown|parcel|esbuild|browser-sync)\//;

/**
 * Whether the module imports a built-in module that servers listen with, itself or in a package. A module that cannot be
 * bundled does not.
 *
 * @param kind - `worker` resolves packages as wrangler does, which takes their versions for browsers
 */
export async function importsServerModule(entry: string, kind: "worker" | "node"): Promise<boolean> {
  const metafile = await readImports(entry, kind);
  return metafile !== null && importsOf(metafile).some((name) => SERVER_MODULES.has(name));
}

/** Whether the module of a server imports a bundler, which it uses for development only. */
export async function importsBundler(entry: string): Promise<boolean> {
  const metafile = await readImports(entry, "node");
  return metafile !== null && Object.keys(metafile.inputs).some((file) => DEVELOPMENT.test(file));
}

/** What a module imports, directly and in other modules. `null` if it cannot be bundled. */
async function readImports(entry: string, kind: "worker" | "node"): Promise<Metafile | null> {
  const options: ServerBuild =
    kind === "node"
      ? nodeOptions(entry, {})
      : {
          ...commonOptions(entry),
          platform: "browser",
          conditions: ["workerd", "worker", "browser"],
          plugins: [externalBuiltIns],
        };
  const { build } = await import("esbuild");
  return build({ ...options, write: false, logLevel: "silent" }).then(
    ({ metafile }) => metafile,
    () => null,
  );
}

/** Bundles the server for Node, and writes the main module that runs it on the platform. */
export async function planNodeServer(server: NodeServer): Promise<NodeServerPlan | { failure: Explanation }> {
  writeModules(server);
  const packageFolders = new Set<string>();
  const loading = new Set<string>();
  const onLocated = (file: string) => {
    const folder = packageFolder(path.relative(".", file));
    if (folder !== null) packageFolders.add(folder);
  };
  const onLoader = (file: string) => loading.add(file.includes("/node_modules/") ? server.entry : file);
  // esbuild prints its errors itself, in the same form as wrangler.
  const first = await bundle(server, { onLocated, onLoader }, "error").catch(() => process.exit(1));
  const failure = explainNativePackage(first);
  if (failure) return { failure };
  const modules = loading.size > 0 ? listRunTimeModules([...loading]) : [];
  const second = modules.length > 0 ? await bundleRunTimeModules(server, modules, { onLocated, onLoader }) : null;
  const metafile = second ?? first;
  const { files, warnings } = listDataFiles({
    bundled: new Set(Object.keys(metafile.inputs)),
    listed: new Set(second === null ? [] : modules),
    packageFolders,
    omittedFolder: server.assets,
  });
  return { dataFiles: files, warnings: [...(server.warnings ?? []), ...describeMissingBuiltIns(first), ...warnings] };
}

/** Bundles the server with modules that it may load at run time. `null` if that fails: most of them may be unrelated. */
async function bundleRunTimeModules(
  server: NodeServer,
  modules: readonly string[],
  options: Partial<NodeModulesOptions>,
): Promise<Metafile | null> {
  writeFileSync(MODULES, runTimeModules(modules));
  return bundle(server, { ...options, toleratesAbsent: true }, "silent").catch(() => null);
}

async function bundle(
  { entry, launcher }: NodeServer,
  options: Partial<NodeModulesOptions>,
  logLevel: "error" | "silent",
): Promise<Metafile> {
  const { build } = await import("esbuild");
  const { metafile } = await build({
    ...nodeOptions(launcher === undefined ? entry : LAUNCHER, options),
    inject: [MODULES],
    outfile: `${NODE_SERVER_FOLDER}/app.mjs`,
    logLevel,
  });
  return metafile;
}

/** Writes the modules of the platform beside which the server is bundled. */
function writeModules({ entry, launcher }: NodeServer): void {
  mkdirSync(NODE_SERVER_FOLDER, { recursive: true });
  cpSync(path.join(import.meta.dirname, "runtime"), `${NODE_SERVER_FOLDER}/runtime`, { recursive: true });
  writeFileSync(MODULES, runTimeModules([]));
  writeFileSync(NODE_SERVER_MAIN, mainModule(entry));
  if (launcher !== undefined) writeFileSync(LAUNCHER, launcher);
}

function mainModule(entry: string): string {
  return `import { httpServerHandler } from "cloudflare:node";
import { DurableObject } from "cloudflare:workers";
import { createNodeServer } from "./runtime/node-server-worker.mjs";
const app = { entry: ${JSON.stringify(entry)}, load: () => import("./app.mjs") };
const server = createNodeServer(app, { DurableObject, httpServerHandler });
export const NodeServer = server.NodeServer;
export default server.worker;
`;
}

type ServerBuild = BuildOptions & { metafile: true };

function commonOptions(entry: string): ServerBuild {
  return { entryPoints: [entry], bundle: true, metafile: true, format: "esm", target: "es2024" };
}

/** What modules of a project import for browsers. */
const OTHER_IMPORTS = [".css", ".scss", ".svg", ".png", ".jpg", ".webp", ".html", ".vue", ".svelte", ".md"];

function nodeOptions(entry: string, options: Partial<NodeModulesOptions>): ServerBuild {
  return {
    ...commonOptions(entry),
    platform: "node",
    conditions: ["workerd"],
    plugins: [
      nodeModulesPlugin(entry, { onLocated: () => {}, onLoader: () => {}, toleratesAbsent: false, ...options }),
    ],
    ...(options.toleratesAbsent && { loader: Object.fromEntries(OTHER_IMPORTS.map((name) => [name, "empty"])) }),
    keepNames: true,
    // The runtime replaces it. esbuild would warn that a direct call sees the variables of the bundle.
    define: { eval: "globalThis.eval" },
    banner: { js: "const require = globalThis.__serviceRequire;" },
  };
}

function importsOf({ inputs }: Metafile): string[] {
  return Object.values(inputs).flatMap(({ imports }) => imports.map((each) => each.path.replace(/^required:/, "")));
}
