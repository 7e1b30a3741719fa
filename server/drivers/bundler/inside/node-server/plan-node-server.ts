import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { BuildOptions, Metafile } from "esbuild";
import { foldersAbove } from "../folders-above.ts";
import type { Explanation } from "../explain-server-build.ts";
import { type DataFile, listDataFiles } from "./list-data-files.ts";
import { describeMissingBuiltIns, explainNativePackage, packageFolder } from "./native-packages.ts";
import { externalBuiltIns, nodeModulesPlugin } from "./node-modules-plugin.ts";

const FOLDER = ".wrangler/node-server";
const ENGINES = `${FOLDER}/engines.cjs`;
/** The main module, whose name in the bundle no file of the repository has. */
export const NODE_SERVER_MAIN = `${FOLDER}/__node_server.mjs`;

/** The built-in modules that a server listens with. */
const SERVER_MODULES = new Set(["http", "https", "http2", "net"].map((name) => `node:${name}`));

/** How a Node server is bundled: a module of the platform is the main module, and loads the server. */
export interface NodeServerPlan {
  /** Files that the server can read below its working directory. */
  dataFiles: DataFile[];
  warnings: string[];
}

/**
 * Whether the module imports a built-in module that servers listen with, itself or in a package. A module that cannot be
 * bundled does not.
 *
 * @param kind - `worker` resolves packages as wrangler does, which takes their versions for browsers
 */
export async function importsServerModule(entry: string, kind: "worker" | "node"): Promise<boolean> {
  const options: ServerBuild =
    kind === "node"
      ? nodeOptions(entry, () => {})
      : {
          ...commonOptions(entry),
          platform: "browser",
          conditions: ["workerd", "worker", "browser"],
          plugins: [externalBuiltIns],
        };
  try {
    const { build } = await import("esbuild");
    const { metafile } = await build({ ...options, write: false, logLevel: "silent" });
    return importsOf(metafile).some((name) => SERVER_MODULES.has(name));
  } catch {
    return false;
  }
}

/** Bundles the server for Node, and writes the main module that runs it on the platform. */
export async function planNodeServer(entry: string): Promise<NodeServerPlan | { failure: Explanation }> {
  const { build } = await import("esbuild");
  mkdirSync(FOLDER, { recursive: true });
  const outfile = `${FOLDER}/app.mjs`;
  writeFileSync(ENGINES, viewEngines());
  const packageFolders = new Set<string>();
  const onLocated = (file: string) => {
    const folder = packageFolder(path.relative(".", file));
    if (folder !== null) packageFolders.add(folder);
  };
  // esbuild prints its errors itself, in the same form as wrangler.
  const { metafile } = await build({
    ...nodeOptions(entry, onLocated),
    inject: [ENGINES],
    outfile,
    logLevel: "error",
  }).catch(() => process.exit(1));
  const failure = explainNativePackage(metafile);
  if (failure) return { failure };
  cpSync(path.join(import.meta.dirname, "runtime"), `${FOLDER}/runtime`, { recursive: true });
  writeFileSync(NODE_SERVER_MAIN, mainModule(entry));
  const { files, warnings } = listDataFiles(new Set(Object.keys(metafile.inputs)), packageFolders);
  return { dataFiles: files, warnings: [...describeMissingBuiltIns(metafile), ...warnings] };
}

function mainModule(entry: string): string {
  return `import { httpServerHandler } from "cloudflare:node";
import { DurableObject } from "cloudflare:workers";
import { createNodeServer } from "./runtime/node-server.mjs";
const app = { entry: ${JSON.stringify(entry)}, load: () => import("./app.mjs") };
const server = createNodeServer(app, { DurableObject, httpServerHandler });
export const NodeServer = server.NodeServer;
export default server.worker;
`;
}

/** Engines of templates that Express loads by a name that is known only at run time. */
const VIEW_ENGINES = ["ejs", "pug", "hbs", "twig"];

/** A module with the view engines that are installed, for the `require` of the runtime. */
function viewEngines(): string {
  const installed = VIEW_ENGINES.filter((name) =>
    foldersAbove(process.cwd()).some((folder) => existsSync(`${folder}/node_modules/${name}/package.json`)),
  );
  const entries = installed.map((name) => `${name}: () => require("${name}")`);
  return `globalThis.__serviceModules = { ${entries.join(", ")} };`;
}

type ServerBuild = BuildOptions & { metafile: true };

function commonOptions(entry: string): ServerBuild {
  return { entryPoints: [entry], bundle: true, metafile: true, format: "esm", target: "es2024" };
}

function nodeOptions(entry: string, onLocated: (file: string) => void): ServerBuild {
  return {
    ...commonOptions(entry),
    platform: "node",
    conditions: ["workerd"],
    plugins: [nodeModulesPlugin(entry, onLocated)],
    keepNames: true,
    // The runtime replaces it. esbuild would warn that a direct call sees the variables of the bundle.
    define: { eval: "globalThis.eval" },
    banner: { js: "const require = globalThis.__serviceRequire;" },
  };
}

function importsOf({ inputs }: Metafile): string[] {
  return Object.values(inputs).flatMap(({ imports }) => imports.map((each) => each.path.replace(/^required:/, "")));
}
