import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Metafile } from "esbuild";
import type { Explanation } from "../explain-server-build.ts";

const D1 =
  'Store the data in the SQL database of the app: declare d1_databases in wrangler.jsonc, and use the binding from import { env } from "cloudflare:workers".';

/** What to use instead of a native package or a built-in module that the runtime does not have. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  "better-sqlite3": D1,
  sqlite3: D1,
  sqlite: D1,
  "node:sqlite": D1,
  bcrypt: "Use bcryptjs, which has the same functions.",
  argon2: "Use hash-wasm, which has argon2, or scrypt of node:crypto.",
  sharp: "Use a service for images, or resize them before the deployment.",
  canvas: "Draw in the browser, or use a service for images.",
};

/** Packages that only native packages depend on. */
const NATIVE_HELPERS = [
  "bindings",
  "node-gyp-build",
  "prebuild-install",
  "node-addon-api",
  "@mapbox/node-pre-gyp",
  "nan",
];

interface PackageJson {
  name?: string;
  gypfile?: boolean;
  napi?: unknown;
  dependencies?: object;
  optionalDependencies?: object;
}

/** Built-in modules of which the runtime has no working functions. */
const MISSING_BUILT_INS = new Set(["child_process", "cluster", "worker_threads", "dgram", "repl", "inspector"]);

/**
 * Explains why a server cannot run, if the project's own code imports a native package or SQLite. A native package that
 * only another package imports may be optional, so it fails when it is loaded.
 */
export function explainNativePackage(metafile: Metafile): Explanation | null {
  for (const [file, imported] of ownImports(metafile)) {
    if (imported === "node:sqlite")
      return describe(
        "node:sqlite",
        `${file} imports node:sqlite, which stores data in files. Apps have no lasting files.`,
      );
    const folder = packageFolder(imported);
    const name = folder && nativePackageName(folder);
    if (name)
      return describe(
        name,
        `${name} is a native module, and ${file} imports it. Apps run in workerd, which loads no native modules.`,
      );
  }
  return null;
}

/** Warns of built-in modules that the project's own code imports and whose functions fail when they are called. */
export function describeMissingBuiltIns(metafile: Metafile): string[] {
  const files = new Map<string, string>();
  for (const [file, imported] of ownImports(metafile)) {
    const name = imported.replace(/^(required:)?node:/, "");
    if (MISSING_BUILT_INS.has(name) && !files.has(name)) files.set(name, file);
  }
  return [...files].map(
    ([name, file]) =>
      `${file} imports node:${name}. Apps have no processes or threads of their own, so its functions fail when they are called.`,
  );
}

function describe(name: string, message: string): Explanation {
  return {
    message,
    advice:
      REPLACEMENTS[name] ??
      `Replace ${name} by a package that is written in JavaScript or WebAssembly, then deploy again.`,
  };
}

/** The imports of the project's own files: the file, and the path or the name of the imported module. */
function* ownImports({ inputs }: Metafile): Generator<[string, string]> {
  for (const [file, { imports }] of Object.entries(inputs)) {
    if (file.includes("node_modules/") || /^[a-z]+:/.test(file)) continue;
    for (const each of imports) yield [file, each.path.replace(/^required:/, "")];
  }
}

/** The folder of the package that a file belongs to; `null` for a file of the project itself. */
export function packageFolder(file: string): string | null {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? null;
}

function nativePackageName(folder: string): string | null {
  const packageJson = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as PackageJson;
  const { name = path.basename(folder), gypfile, napi, dependencies, optionalDependencies } = packageJson;
  const helpers = Object.keys({ ...dependencies, ...optionalDependencies });
  const isNative =
    gypfile === true ||
    napi !== undefined ||
    existsSync(path.join(folder, "binding.gyp")) ||
    helpers.some((helper) => NATIVE_HELPERS.includes(helper) || helper.startsWith("@img/sharp-"));
  return isNative ? name : null;
}
