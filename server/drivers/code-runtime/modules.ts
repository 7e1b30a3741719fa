import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build, stop } from "esbuild";

/**
 * What programs can import, by the name of its file; `inside/import-map.json` leads to the same files. Those of one
 * family share what they have in common.
 */
const FAMILIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "zod-4": { zod: "zod", "zod-mini": "zod/mini", "zod-core": "zod/v4/core", "zod-locales": "zod/locales" },
  "zod-3": { "zod-v3": "zod/v3" },
};

/**
 * The packages that programs can import, in a form that starts fast. Deno parses every module in full before it runs it,
 * to find its imports, and keeps nothing of that from one program to the next; for zod this takes longer than to run it.
 * So each family is one script in a file of text, which is parsed by V8 alone and as far as it is used.
 */
export class Modules {
  readonly #folder: string;
  #made: Promise<void> | null = null;

  /** @param folder - replaced, when they are first asked for */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns the folder that holds them, which has nothing secret */
  async ready(): Promise<string> {
    this.#made ??= makeModules(this.#folder);
    try {
      await this.#made;
    } catch (error) {
      this.#made = null;
      throw error;
    }
    return this.#folder;
  }
}

async function makeModules(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o755 });
  try {
    for (const [family, members] of Object.entries(FAMILIES)) {
      const files: Record<string, string> = {
        [`${family}.txt`]: await scriptOf(members),
        [`${family}.mjs`]: `import text from "./${family}.txt" with { type: "text" };\nexport default (0, eval)(text);\n`,
      };
      for (const [name, specifier] of Object.entries(members))
        files[`${name}.mjs`] = await memberModule(family, name, specifier);
      for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
    }
  } finally {
    await stop();
  }
}

/** An expression whose value has the namespace of each member. */
async function scriptOf(members: Readonly<Record<string, string>>): Promise<string> {
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
