// Part of the runtime of Node servers in workerd: modules whose path or name is known only at run time.
import fs from "node:fs";
import { fileURLToPath } from "node:url";

const EXTENSIONS = ["", ".js", ".cjs", ".mjs", ".ts", ".json", "/index.js", "/index.cjs", "/index.mjs", "/index.ts"];

/** Defines what the bundle calls where the argument of `require` or `import` is not a constant. */
export function defineLoaders() {
  globalThis.__serviceRequire = requireAtRunTime;
  globalThis.__serviceImport = importAtRunTime;
  // Generated code uses it.
  globalThis.require = requireAtRunTime;
}

function requireAtRunTime(name) {
  const builtIn = findBuiltIn(name);
  if (builtIn) return builtIn;
  const found = find(name);
  if (found.endsWith(".json")) return JSON.parse(fs.readFileSync(found, "utf8"));
  return bundled()[found].require();
}

requireAtRunTime.cache = {};
requireAtRunTime.resolve = find;

/**
 * @param {string} from the path of the importing module
 * @param {string | URL} specifier
 */
async function importAtRunTime(from, specifier) {
  const name = String(specifier);
  const builtIn = findBuiltIn(name);
  if (builtIn) return { ...builtIn, default: builtIn };
  return bundled()[find(/^\.\.?\//.test(name) ? new URL(name, `file://${from}`).href : name)].import();
}

/** A path would be an internal error of workerd. */
function findBuiltIn(name) {
  return /^[a-z]/.test(name) ? process.getBuiltinModule(name) : undefined;
}

function bundled() {
  return globalThis.__serviceModules ?? {};
}

/** The name of a module in the bundle, or the path of a JSON file. */
function find(name) {
  const path = name.startsWith("file://") ? fileURLToPath(name) : name;
  const candidates = EXTENSIONS.map((extension) => path + extension);
  const found = candidates.find(
    (each) => Object.hasOwn(bundled(), each) || (each.endsWith(".json") && each.startsWith("/") && fs.existsSync(each)),
  );
  if (found !== undefined) return found;
  throw Object.assign(new Error(`Cannot find module '${name}'`), { code: "MODULE_NOT_FOUND" });
}
