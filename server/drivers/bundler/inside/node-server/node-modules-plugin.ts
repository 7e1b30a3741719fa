import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import type { Loader, OnLoadResult, Plugin, PluginBuild } from "esbuild";
import { loadsAtRunTime, replaceComputedImports } from "./run-time-modules.ts";
import { runtimePath } from "./runtime-folders.ts";

const LOADERS: Readonly<Record<string, Loader>> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
  ".jsx": "jsx",
};

/** Words by which a module finds out where it is. */
const LOCATION = /\b__dirname\b|\b__filename\b|\bimport\.meta\b|\brequire\.main\b/;

export interface NodeModulesOptions {
  /** Called with each module that finds out where it is, because it may read files beside it. */
  onLocated: (file: string) => void;
  /** Called with each module that loads others by a path that is known only at run time. */
  onLoader: (file: string) => void;
  /** Whether modules of the project may import what does not exist, as packages may. Then the import fails when it is run. */
  toleratesAbsent: boolean;
}

/** Gives the modules of a Node project what they have under Node and lose in a bundle. */
export function nodeModulesPlugin(entry: string, { onLocated, onLoader, toleratesAbsent }: NodeModulesOptions): Plugin {
  const main = path.resolve(entry);
  return {
    name: "node-modules",
    setup(build) {
      resolveBuiltIns(build);
      // Its version for browsers does not generate code in the scope of a function, which the runtime does not allow.
      build.onResolve({ filter: /^depd$/ }, async ({ path: name, pluginData, ...options }) => {
        if (pluginData === "resolving") return undefined;
        const found = await build.resolve(name, { ...options, pluginData: "resolving" });
        return found.errors.length > 0 ? found : { path: path.resolve(found.path, "../lib/browser/index.js") };
      });
      // The condition `workerd` selects a version without the functions for streams of Node.
      build.onResolve({ filter: /^react-dom\/server$/ }, async ({ pluginData, path: _path, ...options }) => {
        if (pluginData === "resolving") return undefined;
        const found = await build.resolve("react-dom/server.node", { ...options, pluginData: "resolving" });
        return found.errors.length > 0 ? undefined : found;
      });
      resolveAbsentPackages(build, toleratesAbsent);
      build.onLoad({ filter: /\.node$/ }, ({ path: file }) => throwingModule(`${nativeName(file)} is a native module`));
      build.onLoad({ filter: /(\.[cm]?[jt]sx?|\/[^./]+)$/ }, ({ path: file }) => {
        const text = readFileSync(file, "utf8");
        const isLoader = loadsAtRunTime(file, text);
        if (isLoader) onLoader(file);
        const source = isLoader ? replaceComputedImports(file, text) : text;
        if (LOCATION.test(source)) {
          onLocated(file);
          return locateModule(build, file, source, main);
        }
        // The main module may have no extension, by which esbuild knows the loader of the others.
        if (file !== main && !isLoader) return undefined;
        return { contents: source, loader: loaderOf(file), resolveDir: path.dirname(file) };
      });
    },
  };
}

/** Leaves built-in modules out of a bundle that only shows what a script imports. */
export const externalBuiltIns: Plugin = {
  name: "external-built-ins",
  setup(build) {
    build.onResolve({ filter: /^[a-z]/ }, ({ path: name }) =>
      isBuiltin(name) || name.startsWith("cloudflare:") ? { path: withPrefix(name), external: true } : undefined,
    );
  },
};

function withPrefix(name: string): string {
  return name.includes(":") ? name : `node:${name}`;
}

/** `require` of a built-in module becomes an import, because the bundle is an ES module. */
function resolveBuiltIns(build: PluginBuild): void {
  build.onResolve({ filter: /^[a-z]/ }, ({ path: name, kind }) => {
    if (name.startsWith("cloudflare:")) return { path: name, external: true };
    if (!isBuiltin(name)) return undefined;
    const file = withPrefix(name);
    return kind === "require-call" ? { path: file, namespace: "required" } : { path: file, external: true };
  });
  build.onLoad({ filter: /.*/, namespace: "required" }, ({ path: name }) => ({
    contents: `import builtIn from ${JSON.stringify(name)};\nmodule.exports = builtIn;`,
    loader: "js",
  }));
}

/** Packages require optional packages that are not installed. As under Node, only the import fails, when it is run. */
function resolveAbsentPackages(build: PluginBuild, toleratesAbsent: boolean): void {
  build.onResolve({ filter: toleratesAbsent ? /./ : /^[^./]/ }, async ({ path: name, pluginData, ...options }) => {
    const mayLack = toleratesAbsent || options.importer.includes("/node_modules/");
    if (pluginData === "resolving" || !mayLack || options.namespace !== "file") return undefined;
    const { errors } = await build.resolve(name, { ...options, pluginData: "resolving" });
    // esbuild resolves what exists once more: a path from a plugin loses the `type` of its package.json, which decides
    // what the default import of a CommonJS module is.
    return errors.length > 0 ? { path: name, namespace: "absent" } : undefined;
  });
  build.onLoad({ filter: /.*/, namespace: "absent" }, ({ path: name }) =>
    throwingModule(`Cannot find module '${name}'`),
  );
}

function throwingModule(message: string): OnLoadResult {
  const code = `throw Object.assign(new Error(${JSON.stringify(message)}), { code: "MODULE_NOT_FOUND" });`;
  return { contents: code, loader: "js" };
}

function nativeName(file: string): string {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file)?.[1] ?? path.basename(file);
}

function loaderOf(file: string): Loader {
  return LOADERS[path.extname(file)] ?? "js";
}

/** Replaces the words for a module's own place by its place at run time. */
async function locateModule(build: PluginBuild, file: string, source: string, main: string): Promise<OnLoadResult> {
  const runtimeFile = runtimePath(file);
  const { code } = await build.esbuild.transform(source, {
    loader: loaderOf(file),
    sourcefile: path.relative(process.cwd(), file),
    platform: "node",
    define: {
      __filename: JSON.stringify(runtimeFile),
      __dirname: JSON.stringify(path.dirname(runtimeFile)),
      "import.meta.url": JSON.stringify(`file://${runtimeFile}`),
      "import.meta.filename": JSON.stringify(runtimeFile),
      "import.meta.dirname": JSON.stringify(path.dirname(runtimeFile)),
      "import.meta.main": String(file === main),
      ...(file === main && { "require.main": "module" }),
    },
  });
  return { contents: code, loader: "js", resolveDir: path.dirname(file) };
}
