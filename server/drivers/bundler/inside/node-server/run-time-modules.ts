import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { ancestorFolders } from "../ancestor-folders.ts";
import { NODE_SERVER_FOLDER, runtimePath } from "./runtime-folders.ts";

const MAX_MODULES = 500;

/** Packages that load the modules of a folder. */
const LOADERS = /\/node_modules\/(@fastify\/autoload|require-all|require-directory|include-all|express-file-routing)\//;

/** Engines of templates that Express loads by a name that is known only at run time. */
const VIEW_ENGINES = ["ejs", "pug", "hbs", "twig"];

/** `require(` and `import(` with an argument that is neither a constant nor a choice between constants. */
const COMPUTED = /(?<![.\w$])(require|import)\s*\(\s*(?!["'`)\s/])(?![^)]*\?)/g;

/** Folders of tests, of files for browsers, and of other programs. */
const OTHER_FOLDER = /(^|\/)(node_modules|\..+|tests?|__tests__|__mocks__|spec|e2e|public|static|client|scripts)$/;
const OTHER_FILE = /\.(test|spec|stories|config|d)\.[cm]?[jt]s$/;

/** Whether a module loads others by a path that is known only at run time, such as those of a folder. */
export function loadsAtRunTime(file: string, source: string): boolean {
  return LOADERS.test(file) || (!file.includes("/node_modules/") && source.search(COMPUTED) >= 0);
}

/** Replaces `import(path)` by a function of the runtime. esbuild leaves it as it is, and workerd finds no such module. */
export function replaceComputedImports(file: string, source: string): string {
  const call = `globalThis.__serviceImport(${JSON.stringify(runtimePath(file))}, `;
  return source.replaceAll(COMPUTED, (text, name) => (name === "import" ? call : text));
}

/**
 * Lists the modules of the project that the server may load at run time: those of the folders beside the modules that do so.
 * Modules at the root are left out, because most of them are configurations of tools.
 *
 * @param loading - the modules that load others, and for those of packages the entry of the server
 */
export function listRunTimeModules(loading: readonly string[]): string[] {
  const folders = new Set(loading.map((file) => path.relative(".", file).split("/").slice(0, -1)[0] ?? "*"));
  const patterns = folders.has("*") ? ["*"] : [...folders];
  const files = globSync(
    patterns.map((folder) => `${folder}/**/*.{js,cjs,mjs,ts,cts,mts}`),
    { exclude: (name) => OTHER_FOLDER.test(name) },
  );
  return files
    .filter((file) => !OTHER_FILE.test(file))
    .toSorted()
    .slice(0, MAX_MODULES);
}

/** A module with what code can load at run time: the view engines that are installed, and these modules of the project. */
export function runTimeModules(files: readonly string[]): string {
  const installed = VIEW_ENGINES.filter((name) =>
    ancestorFolders(process.cwd()).some((folder) => existsSync(`${folder}/node_modules/${name}/package.json`)),
  );
  const engines = installed.map((name) => entry(name, name, true));
  const modules = files.map((file) => {
    // `require` of a module that waits for something is an error of esbuild, and of Node.
    const waits = /^(?!.*\basync\b)\S.*\bawait\s/m.test(readFileSync(file, "utf8"));
    return entry(runtimePath(file), path.posix.relative(NODE_SERVER_FOLDER, file), !waits);
  });
  return `globalThis.__serviceModules = {\n${[...engines, ...modules].join(",\n")}\n};\n`;
}

function entry(name: string, specifier: string, hasRequire: boolean): string {
  const [key, from] = [JSON.stringify(name), JSON.stringify(specifier)];
  const require = hasRequire ? `require: () => require(${from}), ` : "";
  return `${key}: { ${require}import: () => import(${from}) }`;
}
