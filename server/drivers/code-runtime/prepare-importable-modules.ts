import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import type * as Esbuild from "esbuild";
import { writeReadable } from "../../files/write-readable-files.ts";

/**
 * The modules that programs can import, by file name. `inside/import-map.json` maps specifiers to the same files.
 * The modules of one bundle share their common code.
 */
const BUNDLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "zod-4": { zod: "zod", "zod-mini": "zod/mini", "zod-core": "zod/v4/core", "zod-locales": "zod/locales" },
  "zod-3": { "zod-v3": "zod/v3" },
};

/** Files in the modules folder that are not modules for programs: they are made from files of the same name in `inside`. */
export const PRELOADED_SCRIPT = "service-global.mjs";
export const IMPORT_MAP = "import-map.json";
/** Becomes the variable `typedJson` of the preloaded script. */
const TYPED_JSON = "typed-json.ts";
const INSIDE = path.join(import.meta.dirname, "inside");

/** The modules folder of this project, beside other prepared files. */
export const MODULES_FOLDER = path.resolve(import.meta.dirname, "../../../.cache/modules");

/**
 * Prepares the modules that programs can import in a form that starts fast. Deno parses every imported module completely
 * before it runs it, and caches nothing between programs; for zod that takes longer than running it. So each bundle is a
 * script in a text file, which V8 alone parses, and only as far as it is used.
 */
export class ImportableModules {
  readonly #folder: string;
  #prepared: Promise<string> | null = null;

  /** @param folder - other processes may use it at the same time */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns the folder with the modules, which are created on first use */
  async prepare(): Promise<string> {
    this.#prepared ??= prepareModules(this.#folder);
    try {
      return await this.#prepared;
    } catch (error) {
      this.#prepared = null;
      throw error;
    }
  }
}

async function prepareModules(folder: string): Promise<string> {
  const target = path.join(folder, await computeFingerprint());
  if (await exists(target)) return target;
  await mkdir(folder, { recursive: true });
  const temporary = await mkdtemp(`${target}-`);
  try {
    await writeModules(temporary);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true });
    // Another process may have created the target in the meantime.
    if (!(await exists(target))) throw error;
  }
  return target;
}

/** Changes with the packages that the modules are made of, and with this file. */
async function computeFingerprint(): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const hash = createHash("sha256");
  const packages = [resolve("zod/package.json"), resolve("esbuild/package.json")];
  const own = [
    ...[PRELOADED_SCRIPT, TYPED_JSON, IMPORT_MAP].map((name) => path.join(INSIDE, name)),
    import.meta.filename,
  ];
  for (const file of [...packages, ...own]) hash.update(await readFile(file));
  return hash.digest("hex").slice(0, 16);
}

async function exists(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    () => false,
  );
}

async function writeModules(folder: string): Promise<void> {
  // Imported on first use: most processes find the modules prepared.
  const esbuild = await import("esbuild");
  try {
    for (const [bundle, members] of Object.entries(BUNDLES)) {
      await writeReadable(path.join(folder, `${bundle}.txt`), await bundleScript(esbuild, members));
      const evaluated = `import text from "./${bundle}.txt" with { type: "text" };\nexport default (0, eval)(text);\n`;
      await writeReadable(path.join(folder, `${bundle}.mjs`), evaluated);
      for (const [name, specifier] of Object.entries(members))
        await writeReadable(path.join(folder, `${name}.mjs`), await createMemberModule(bundle, name, specifier));
    }
    await writeReadable(path.join(folder, PRELOADED_SCRIPT), await wrapPreloadedScript(esbuild));
    await writeReadable(path.join(folder, IMPORT_MAP), await readFile(path.join(INSIDE, IMPORT_MAP), "utf8"));
  } finally {
    await esbuild.stop();
  }
  await chmod(folder, 0o755);
}

/**
 * Wraps the preloaded script in a string, which only V8 parses. Deno would parse the module with its own parser first, in
 * every program, which costs 1.5 ms of 37 ms.
 */
async function wrapPreloadedScript({ build, transform }: typeof Esbuild): Promise<string> {
  const entryPoints = [path.join(INSIDE, TYPED_JSON)];
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    write: false,
    format: "iife",
    globalName: "typedJson",
  });
  const source = `${outputFiles[0]?.text}\n${await readFile(path.join(INSIDE, PRELOADED_SCRIPT), "utf8")}`;
  const options = { target: "esnext", minifySyntax: true, minifyWhitespace: true } as const;
  const { code } = await transform(`(async () => { "use strict";\n${source}\n})()`, options);
  // Stack traces contain the name. `readable-errors.ts` leaves out such lines.
  const script = `${code}//# sourceURL=file:///opt/modules/${PRELOADED_SCRIPT}`;
  return `await (0, eval)(${JSON.stringify(script)});\n`;
}

/** Creates an expression whose value is an object with the namespace of each member. */
async function bundleScript({ build }: typeof Esbuild, members: Readonly<Record<string, string>>): Promise<string> {
  const contents = Object.entries(members)
    .map(([name, specifier]) => `export * as ${JSON.stringify(name)} from ${JSON.stringify(specifier)};`)
    .join("\n");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "members",
    target: "esnext",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "silent",
  });
  return `(() => {${outputFiles[0]?.text}\nreturn members;})()`;
}

/** Creates the module that programs import. It exports the same names as the package. */
async function createMemberModule(bundle: string, name: string, specifier: string): Promise<string> {
  const exports = Object.keys((await import(specifier)) as object).map((each) => JSON.stringify(each));
  const bindings = exports.map((each, at) => `${each}: _${at}`).join(", ");
  const exported = exports.map((each, at) => `_${at} as ${each}`).join(", ");
  return [
    `import members from "./${bundle}.mjs";`,
    `const { ${bindings} } = members[${JSON.stringify(name)}];`,
    `export { ${exported} };`,
    "",
  ].join("\n");
}
