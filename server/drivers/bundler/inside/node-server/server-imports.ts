import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import type { BuildOptions, Metafile, Plugin } from "esbuild";

/** The built-in modules that a server listens with. */
const SERVER_MODULES = new Set(["http", "https", "http2", "net"].map((name) => `node:${name}`));

/** Packages of servers for development. */
const DEVELOPMENT =
  /(^|\/)node_modules\/(webpack|webpack-dev-server|vite|rollup|rolldown|parcel|esbuild|browser-sync)\//;

/** Files that modules import and that are no code. */
const OTHER_FILES = [
  ".node",
  ".css",
  ".scss",
  ".svg",
  ".png",
  ".jpg",
  ".webp",
  ".html",
  ".vue",
  ".svelte",
  ".md",
  ".wasm",
];

/**
 * Whether the module imports a built-in module that servers listen with, itself or in a package.
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

const LISTENING = /\blisten\s*\(|\bserve\s*\(|\bcreateServer\b/;

/** Whether a module, or one of the project that it imports, seems to listen. */
export async function mayListen(entry: string): Promise<boolean> {
  const metafile = await readImports(entry, "node");
  const files = Object.keys(metafile?.inputs ?? {}).filter((file) => !/(^|\/)node_modules\//.test(file));
  return metafile === null || files.some((file) => LISTENING.test(readFileSync(file, "utf8")));
}

/** What a module imports, directly and in other modules. `null` if it cannot be bundled. */
async function readImports(entry: string, kind: "worker" | "node"): Promise<Metafile | null> {
  const resolution: BuildOptions =
    kind === "node"
      ? { platform: "node", plugins: [builtIns, absentPackages] }
      : { platform: "browser", conditions: ["workerd", "worker", "browser"], plugins: [builtIns] };
  const { build } = await import("esbuild");
  return build({
    entryPoints: [entry],
    bundle: true,
    metafile: true,
    format: "esm",
    target: "esnext",
    loader: Object.fromEntries(OTHER_FILES.map((extension) => [extension, "empty"])),
    ...resolution,
    write: false,
    logLevel: "silent",
  }).then(
    ({ metafile = null }) => metafile,
    () => null,
  );
}

const builtIns: Plugin = {
  name: "built-ins",
  setup(build) {
    build.onResolve({ filter: /^[\w:/]+$/ }, ({ path: name }) =>
      isBuiltin(name) ? { path: `node:${name.replace(/^node:/, "")}`, external: true } : undefined,
    );
  },
};

/** A server may load packages that are not installed only under some conditions. */
const absentPackages: Plugin = {
  name: "absent-packages",
  setup(build) {
    build.onResolve({ filter: /./ }, async ({ path: name, pluginData, kind, ...options }) => {
      if (pluginData === "resolving" || kind === "entry-point") return undefined;
      const found = await build.resolve(name, { ...options, kind, pluginData: "resolving" });
      return found.errors.length > 0 ? { path: name, external: true } : undefined;
    });
  },
};

function importsOf({ inputs }: Metafile): string[] {
  return Object.values(inputs).flatMap(({ imports }) => imports.map((each) => each.path));
}
