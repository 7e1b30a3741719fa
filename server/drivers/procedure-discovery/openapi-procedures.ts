import { lstat, opendir } from "node:fs/promises";
import path from "node:path";
import PQueue from "p-queue";
import type { IsolatedApp } from "../../ports/isolated-runtime.ts";
import { collectFromThread } from "../../sandbox/parse-in-thread.ts";
import { joinParts, MAX_DOCUMENT_BYTES, type OpenApiRequest, type SourcePart } from "./openapi-parts.ts";
import { requestApp } from "./request-app.ts";
import type { SourceResult } from "./source-result.ts";

/**
 * Lists the operations of the OpenAPI document in the repository.
 *
 * @returns `null` when there is no document, or one without operations
 */
export async function listRepositoryOperations(sourceDirectory: string): Promise<SourceResult | null> {
  const file = await findOpenApiFile(sourceDirectory);
  if (file === null) return null;
  const parts = await readInThread({ from: "repository", root: sourceDirectory, file });
  if (parts === undefined)
    return { candidates: [], problems: [`${file} is too complex: reading it took too much time or memory.`] };
  return withOperations(joinParts(parts));
}

/** Where frameworks serve their document: chanfana, zod-openapi, Fastify, Elysia, NestJS, Express and others. */
const DOCUMENT_PATHS = [
  "/openapi.json",
  "/doc",
  "/openapi",
  "/api/openapi.json",
  "/swagger/json",
  "/openapi/json",
  "/documentation/json",
  "/swagger.json",
  "/api-docs.json",
  "/api-docs",
  "/api-json",
  "/docs/openapi.json",
  "/api/doc",
];

/**
 * Lists the operations of the OpenAPI document that the app serves at one of the usual paths.
 *
 * @param otherPaths - tried after the usual ones
 * @returns `null` when the app serves no document, or one without operations
 * @throws {AppResponseError}
 */
export async function listServedOperations(
  app: IsolatedApp,
  otherPaths: readonly string[],
  signal: AbortSignal,
): Promise<SourceResult | null> {
  for (const path of new Set([...DOCUMENT_PATHS, ...otherPaths])) {
    const { status, text } = await requestApp(app, { path, maxBytes: MAX_DOCUMENT_BYTES }, signal);
    if (status !== 200 || !mayBeDocument(text)) continue;
    const parts = await readInThread({ from: "app", text });
    const result = withOperations(joinParts(parts ?? []));
    if (result !== null) return result;
  }
  return null;
}

/** Most responses are pages. Reading one costs a thread. */
function mayBeDocument(text: string): boolean {
  return /^\ufeff?\s*\{/.test(text) && text.includes('"openapi"');
}

/** A document without operations counts as none, so that the next source is tried. */
function withOperations(result: SourceResult | null): SourceResult | null {
  if (result === null) return null;
  const { candidates, problems, leftOut = [] } = result;
  return candidates.length === 0 && problems.length === 0 && leftOut.length === 0 ? null : result;
}

const READER = new URL("./inside/read-openapi.ts", import.meta.url);
/** A document of 16 MiB needs a tenth of the time and half of the memory. */
const BOUNDS = { timeoutMs: 30_000, heapMb: 512 };
/** Bounds the memory of all readers together. */
const readers = new PQueue({ concurrency: 2 });

/** @returns `undefined` when reading takes too much time or memory */
async function readInThread(request: OpenApiRequest): Promise<SourcePart[] | undefined> {
  return (await readers.add(() => collectFromThread(READER, request, BOUNDS))) as SourcePart[] | undefined;
}

const FOLDERS = [".", "docs"] as const;
const NAMES = ["openapi.json", "openapi.yaml", "openapi.yml"] as const;

/** Finds the OpenAPI document at the root of the repository or in its folder `docs`. A symbolic link does not count. */
async function findOpenApiFile(sourceDirectory: string): Promise<string | null> {
  for (const folder of FOLDERS) {
    if (!(await isDirectory(path.join(sourceDirectory, folder)))) continue;
    for (const name of NAMES) {
      const file = path.join(folder, name);
      const status = await lstat(path.join(sourceDirectory, file)).catch(() => null);
      if (status?.isFile() === true) return file;
    }
  }
  return null;
}

/**
 * Whether the folder is a directory and not a symbolic link. `readUntrusted` checks only the last part of a path, so a
 * link in place of the folder could lead out of the checkout.
 */
async function isDirectory(folder: string): Promise<boolean> {
  const parent = await opendir(path.dirname(folder));
  const name = path.basename(folder);
  for await (const entry of parent) if (entry.name === name) return entry.isDirectory();
  return false;
}
