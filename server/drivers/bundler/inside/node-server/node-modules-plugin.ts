import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import type { Loader, OnLoadResult, Plugin, PluginBuild } from "esbuild";

/** The folder of the app's files at run time. */
const RUNTIME_ROOT = "/bundle";

/** The path of a file below that folder. The files above the app, which are those of a workspace, are moved into it. */
export function runtimeName(file: string): string {
  return path.relative(process.cwd(), file).replace(/^(\.\.\/)+/, "");
}

const LOADERS: Readonly<Record<string, Loader>> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
  ".jsx": "jsx",
};

/** Words by which a module finds out where it is. */
const LOCATION = /\b__dirname\b|\b__filename\b|\bimport\.meta\b|\brequire\.main\b/;

/**
 * Gives the modules of a Node project what they have under Node and lose in a bundle.
 *
 * @param onLocated - called with each module that finds out where it is, because it may read files beside it
 */
export function nodeModulesPlugin(entry: string, onLocated: (file: string) => void): Plugin {
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
      resolveAbsentPackages(build);
      build.onLoad({ filter: /\.node$/ }, ({ path: file }) => throwingModule(`${nativeName(file)} is a native module`));
      build.onLoad({ filter: /(\.[cm]?[jt]sx?|\/[^./]+)$/ }, ({ path: file }) => {
        const source = readFileSync(file, "utf8");
        if (LOCATION.test(source)) {
          onLocated(file);
          return locateModule(build, file, source, main);
        }
        // It may have no extension, by which esbuild knows the loader of the others.
        return file === main ? { contents: source, loader: loaderOf(file), resolveDir: path.dirname(file) } : undefined;
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
function resolveAbsentPackages(build: PluginBuild): void {
  build.onResolve({ filter: /^[^./]/ }, async ({ path: name, pluginData, ...options }) => {
    const isOfPackage = options.importer.includes("/node_modules/");
    if (pluginData === "resolving" || !isOfPackage || options.namespace !== "file") return undefined;
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
  const runtimeFile = path.join(RUNTIME_ROOT, runtimeName(file));
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
