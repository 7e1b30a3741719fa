import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract, type Pack } from "tar-stream";
import { z } from "zod";
import type { AssetRules, ServerDescription } from "../../../domain/ports/bundler.ts";
import { describeServer } from "../../../domain/ports/bundler.ts";
import type { Script } from "../../../domain/ports/edge-platform.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import { readBody } from "../../http/read-body.ts";
import { packArchive } from "./pack-archive.ts";

const DESCRIPTION = "publication.json";
const FORM = "script.form";
const MAX_DESCRIPTION_BYTES = 4 * 1024 * 1024;

/** A script without the places of its files. */
interface Description {
  slug: string;
  script: Omit<Script, "code" | "assets">;
  /** `null` for a Worker. */
  server: ServerDescription | null;
  /** `null` without static files. */
  rules: AssetRules | null;
}

/** The sender is another process of the installation: this finds a process of another version. */
const descriptionSchema = z.object({
  slug: z.string(),
  script: z.object({
    appId: z.string(),
    organizationId: z.string().optional(),
    generation: z.number(),
    databaseId: z.string(),
  }),
  server: z.looseObject({ layers: z.array(z.object({ digest: z.string().regex(/^[0-9a-f]{64}$/) })) }).nullable(),
  rules: z.looseObject({}).nullable(),
});

/** Packs a script with its files as a tar archive: `publication.json`, then `script.form` or `layers/<digest>`, then `assets/`. */
export function packPublication(slug: string, { code, assets, ...script }: Script): Readable {
  return packArchive(async (archive) => {
    const server = code.runtime === "node" ? describeServer(code.server) : null;
    const description: Description = { slug, script, server, rules: assets?.rules ?? null };
    archive.entry({ name: DESCRIPTION }, JSON.stringify(description));
    if (code.runtime === "worker") await addFile(archive, FORM, code.scriptPath);
    else for (const { digest, path: file } of code.server.layers) await addFile(archive, `layers/${digest}`, file);
    if (assets !== null) await addFolder(archive, "assets", assets.directory);
  });
}

async function addFolder(archive: Pack, name: string, folder: string): Promise<void> {
  archive.entry({ name: `${name}/`, type: "directory" });
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [inner, file] = [`${name}/${entry.name}`, path.join(folder, entry.name)];
    if (entry.isDirectory()) await addFolder(archive, inner, file);
    else if (entry.isFile()) await addFile(archive, inner, file);
  }
}

async function addFile(archive: Pack, name: string, file: string): Promise<void> {
  const { size } = await stat(file);
  await pipeline(createReadStream(file), archive.entry({ name, size }));
}

/** Unpacks what `packPublication` packed into an empty folder. */
export async function unpackPublication(
  body: AsyncIterable<Uint8Array>,
  folder: string,
): Promise<{ slug: string; script: Script }> {
  let description: Description | null = null;
  const entries = extract();
  const reading = pipeline(body, entries);
  // An error reaches the caller through the entries too.
  reading.catch(() => undefined);
  for await (const entry of entries) {
    const { name, type } = entry.header;
    const target = path.join(folder, name);
    if (!target.startsWith(`${folder}${path.sep}`)) throw new Error(`The archive has a file outside: ${name}`);
    if (name === DESCRIPTION) description = await readDescription(entry);
    else if (type === "directory") await mkdir(target, { recursive: true });
    else {
      await mkdir(path.dirname(target), { recursive: true });
      await pipeline(entry, createWriteStream(target));
    }
    entry.resume();
  }
  await reading;
  if (description === null) throw new Error("The archive has no description");
  return { slug: description.slug, script: toScript(description, folder) };
}

async function readDescription(entry: AsyncIterable<unknown>): Promise<Description> {
  const text = await readBody(entry, MAX_DESCRIPTION_BYTES);
  if (text === null) throw new Error("The description is too large");
  return descriptionSchema.parse(parseJson(text.toString("utf8"))) as Description;
}

function toScript({ script, server, rules }: Description, folder: string): Script {
  const layers = server?.layers.map(({ digest }) => ({ digest, path: path.join(folder, "layers", digest) })) ?? [];
  return {
    ...script,
    code:
      server === null
        ? { runtime: "worker", scriptPath: path.join(folder, FORM) }
        : { runtime: "node", server: { ...server, layers } },
    assets: rules === null ? null : { directory: path.join(folder, "assets"), rules },
  };
}
