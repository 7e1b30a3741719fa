import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import type * as Esbuild from "esbuild";

/**
 * What programs can import, by the name of its file; `inside/import-map.json` leads to the same files. Those of one
 * family share what they have in common.
 */
const FAMILIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "zod-4": { zod: "zod", "zod-mini": "zod/mini", "zod-core": "zod/v4/core", "zod-locales": "zod/locales" },
  "zod-3": { "zod-v3": "zod/v3" },
};

/** Where this project keeps them, beside what else is prepared for it. */
export const MODULES_FOLDER = path.resolve(import.meta.dirname, "../../../.cache/modules");

/**
 * The packages that programs can import, in a form that starts fast. Deno parses every module in full before it runs it,
 * to find its imports, and keeps nothing of that from one program to the next; for zod this takes longer than to run it.
 * So each family is one script in a file of text, which is parsed by V8 alone and as far as it is used.
 */
export class Modules {
  readonly #folder: string;
  #made: Promise<string> | null = null;

  /** @param folder - may be used by other processes too */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns the folder that holds them, which they are made in if they are not there yet */
  async ready(): Promise<string> {
    this.#made ??= modulesIn(this.#folder);
    try {
      return await this.#made;
    } catch (error) {
      this.#made = null;
      throw error;
    }
  }
}

async function modulesIn(folder: string): Promise<string> {
  const made = path.join(folder, await fingerprint());
  if (await isThere(made)) return made;
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(`${made}-`);
  try {
    await makeModules(work);
    await rename(work, made);
  } catch (error) {
    await rm(work, { recursive: true });
    // Another process may have been faster.
    if (!(await isThere(made))) throw error;
  }
  return made;
}

/** Changes with whatever they are made of, and with how. */
async function fingerprint(): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const hash = createHash("sha256");
  for (const file of [resolve("zod/package.json"), resolve("esbuild/package.json"), import.meta.filename])
    hash.update(await readFile(file));
  return hash.digest("hex").slice(0, 16);
}

async function isThere(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    () => false,
  );
}

async function makeModules(folder: string): Promise<void> {
  // Most processes find the modules made, and need it not.
  const esbuild = await import("esbuild");
  try {
    for (const [family, members] of Object.entries(FAMILIES)) {
      await write(folder, `${family}.txt`, await scriptOf(esbuild, members));
      const evaluated = `import text from "./${family}.txt" with { type: "text" };\nexport default (0, eval)(text);\n`;
      await write(folder, `${family}.mjs`, evaluated);
      for (const [name, specifier] of Object.entries(members))
        await write(folder, `${name}.mjs`, await memberModule(family, name, specifier));
    }
  } finally {
    await esbuild.stop();
  }
  await chmod(folder, 0o755);
}

/** Whoever runs in the sandbox may be another user. */
async function write(folder: string, name: string, text: string): Promise<void> {
  await writeFile(path.join(folder, name), text);
  await chmod(path.join(folder, name), 0o644);
}

/** An expression whose value has the namespace of each member. */
async function scriptOf({ build }: typeof Esbuild, members: Readonly<Record<string, string>>): Promise<string> {
  const contents = Object.entries(members)
    .map(([name, specifier]) => `export * as ${JSON.stringify(name)} from ${JSON.stringify(specifier)};`)
    .join("\n");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "family",
    target: "esnext",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "silent",
  });
  return `(() => {${outputFiles[0]?.text}\nreturn family;})()`;
}

async function memberModule(family: string, name: string, specifier: string): Promise<string> {
  const names = Object.keys((await import(specifier)) as object).map((each) => JSON.stringify(each));
  const taken = names.map((each, at) => `${each}: _${at}`).join(", ");
  const given = names.map((each, at) => `_${at} as ${each}`).join(", ");
  return `import family from "./${family}.mjs";\nconst { ${taken} } = family[${JSON.stringify(name)}];\nexport { ${given} };\n`;
}
