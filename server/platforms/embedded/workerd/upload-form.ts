import { readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";

/** Reading a form holds up the service, by its number of parts and the length of their headers more than by its size. */
const MOST_PARTS = 2000;
const LONGEST_HEADERS = 16_384;
const MOST_BINDINGS = 500;

/** Refusals quote these names, and are stored and shown. */
const named = z.string().min(1).max(1024);

const metadataSchema = z.object({
  main_module: named,
  bindings: z
    .array(z.looseObject({ name: named, type: named }))
    .max(MOST_BINDINGS)
    .default([]),
  compatibility_date: z.iso.date().optional(),
  compatibility_flags: z.array(z.string()).default([]),
});

export type UploadMetadata = z.output<typeof metadataSchema>;
export type UploadBinding = UploadMetadata["bindings"][number];

const MODULE_KINDS = {
  "application/javascript+module": "ESModule",
  "application/javascript": "CommonJS",
  "text/plain": "Text",
  "application/octet-stream": "Data",
  "application/wasm": "CompiledWasm",
} as const;

export interface UploadModule {
  /** A relative path such as `index.js` or `chunks/a.js`, without `..`. */
  name: string;
  type: (typeof MODULE_KINDS)[keyof typeof MODULE_KINDS];
  contents: string | Uint8Array<ArrayBuffer>;
}

export interface UploadForm {
  metadata: UploadMetadata;
  /** The main module first. */
  modules: UploadModule[];
}

/**
 * Reads the multipart form that `wrangler deploy --dry-run --outfile` writes; source maps are left out.
 *
 * @throws {UnhealthyScript} when the file is not such a form
 */
export async function readUploadForm(file: string): Promise<UploadForm> {
  const parts = await parseForm(await readFile(file));
  const metadata = parseMetadata(parts.get("metadata"));
  const modules: UploadModule[] = [];
  for (const [name, part] of parts) if (part instanceof File) modules.push(...(await readModule(name, part)));
  const main = modules.findIndex((module) => module.name === path.posix.normalize(metadata.main_module));
  if (main < 0) throw new UnhealthyScript(`The bundle has no main module "${metadata.main_module}".`);
  modules.unshift(...modules.splice(main, 1));
  return { metadata, modules };
}

/** The file has no HTTP header beside it; its first line is the boundary. */
async function parseForm(bytes: Buffer<ArrayBuffer>): Promise<FormData> {
  const boundary = /^--([^\r\n]{1,200})\r\n/.exec(bytes.subarray(0, 256).toString("latin1"))?.[1];
  if (boundary !== undefined) boundParts(bytes, `--${boundary}`);
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  return new Response(bytes, { headers }).formData().catch((cause: unknown) => {
    throw new UnhealthyScript("The bundle is not an upload form.", { cause });
  });
}

/** @throws {UnhealthyScript} for a form of more parts, or longer headers, than any bundler writes */
function boundParts(bytes: Buffer, delimiter: string): void {
  let parts = 0;
  for (let at = bytes.indexOf(delimiter); at >= 0; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    if (++parts > MOST_PARTS) throw new UnhealthyScript(`The bundle has more than ${MOST_PARTS} modules.`);
    const last = bytes.subarray(at + delimiter.length, at + delimiter.length + 2).toString("latin1") === "--";
    if (!last && bytes.subarray(at, at + LONGEST_HEADERS).indexOf("\r\n\r\n") < 0)
      throw new UnhealthyScript("The bundle is not an upload form.");
  }
}

function parseMetadata(part: File | string | null): UploadMetadata {
  try {
    return metadataSchema.parse(JSON.parse(typeof part === "string" ? part : ""));
  } catch (cause) {
    throw new UnhealthyScript("The bundle's metadata is missing or malformed.", { cause });
  }
}

async function readModule(partName: string, part: File): Promise<UploadModule[]> {
  const contentType = part.type.split(";")[0]?.trim() ?? "";
  if (!isModuleType(contentType)) return [];
  const name = path.posix.normalize(partName);
  if (name.startsWith("..") || name.startsWith("/"))
    throw new UnhealthyScript(`The module name "${partName}" leaves the bundle.`);
  const type = MODULE_KINDS[contentType];
  const binary = type === "Data" || type === "CompiledWasm";
  return [{ name, type, contents: binary ? new Uint8Array(await part.arrayBuffer()) : await part.text() }];
}

function isModuleType(contentType: string): contentType is keyof typeof MODULE_KINDS {
  return Object.hasOwn(MODULE_KINDS, contentType);
}
