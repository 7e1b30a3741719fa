import { readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { NoHandler, UnhealthyScript } from "../../../domain/ports/edge-platform.ts";

/** Parsing a form blocks the service. The number of parts and the length of their headers cost more than its size. */
const MAX_PARTS = 2000;
const MAX_HEADER_BYTES = 16_384;
const MAX_BINDINGS = 500;

/** Bounded, because error messages contain these names and are stored. */
const nameSchema = z.string().min(1).max(1024);

const metadataSchema = z.object({
  main_module: nameSchema.optional(),
  /** The script of a service worker, which has no main module. */
  body_part: nameSchema.optional(),
  bindings: z
    .array(z.looseObject({ name: nameSchema, type: nameSchema }))
    .max(MAX_BINDINGS)
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
  /** The main module or the service worker first. */
  modules: UploadModule[];
  /** Whether the first module is a service worker: it has bindings as global variables, and imports no module. */
  isServiceWorker: boolean;
}

/**
 * Reads the multipart form that `wrangler deploy --dry-run --outfile` writes. Source maps are omitted.
 *
 * @throws {UnhealthyScript} when the file is not such a form, or has too many parts, or its script handles no request
 */
export async function readUploadForm(file: string): Promise<UploadForm> {
  const parts = await parseForm(await readFile(file));
  const metadata = parseMetadata(parts.get("metadata"));
  const modules: UploadModule[] = [];
  for (const [name, part] of parts) if (part instanceof File) modules.push(...(await readModule(name, part)));
  const mainName = metadata.main_module ?? metadata.body_part ?? "";
  const index = modules.findIndex((module) => module.name === path.posix.normalize(mainName));
  const [main] = index < 0 ? [] : modules.splice(index, 1);
  if (main === undefined) throw new UnhealthyScript(`The bundle has no main module "${mainName}".`);
  const isServiceWorker = metadata.main_module === undefined;
  if (isServiceWorker) requireListener(main);
  return { metadata, modules: [main, ...modules], isServiceWorker };
}

/** The bundler writes every script without exports as a service worker, such as one that sets `module.exports`. */
function requireListener({ contents }: UploadModule): void {
  if (typeof contents === "string" && contents.includes("addEventListener")) return;
  throw new NoHandler(
    'The script exports no handler, and does not call addEventListener("fetch", …). module.exports is not an export of a Worker.',
  );
}

/** There is no HTTP header that names the boundary, but the first line of the file is the boundary. */
async function parseForm(bytes: Buffer<ArrayBuffer>): Promise<FormData> {
  const boundary = /^--([^\r\n]{1,200})\r\n/.exec(bytes.subarray(0, 256).toString("latin1"))?.[1];
  if (boundary !== undefined) checkParts(bytes, `--${boundary}`);
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  return new Response(bytes, { headers }).formData().catch((cause: unknown) => {
    throw new UnhealthyScript("The bundle is not a valid upload form.", { cause });
  });
}

/** @throws {UnhealthyScript} when the form has more parts or longer headers than any bundler writes */
function checkParts(bytes: Buffer, delimiter: string): void {
  let parts = 0;
  for (let index = bytes.indexOf(delimiter); index >= 0; index = bytes.indexOf(delimiter, index + delimiter.length)) {
    if (++parts > MAX_PARTS) throw new UnhealthyScript(`The bundle has more than ${MAX_PARTS} modules.`);
    const isLast = bytes.subarray(index + delimiter.length, index + delimiter.length + 2).toString("latin1") === "--";
    if (!isLast && bytes.subarray(index, index + MAX_HEADER_BYTES).indexOf("\r\n\r\n") < 0)
      throw new UnhealthyScript("The bundle is not a valid upload form.");
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
    throw new UnhealthyScript(`The module name "${partName}" refers to a path outside the bundle.`);
  const type = MODULE_KINDS[contentType];
  const binary = type === "Data" || type === "CompiledWasm";
  return [{ name, type, contents: binary ? new Uint8Array(await part.arrayBuffer()) : await part.text() }];
}

function isModuleType(contentType: string): contentType is keyof typeof MODULE_KINDS {
  return Object.hasOwn(MODULE_KINDS, contentType);
}
