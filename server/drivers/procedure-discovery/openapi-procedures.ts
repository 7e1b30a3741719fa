import { opendir } from "node:fs/promises";
import path from "node:path";
import { parseJson } from "../../../domain/shared/json.ts";
import type { IsolatedApp } from "../../ports/isolated-runtime.ts";
import { parseInThread } from "../../sandbox/parse-in-thread.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { type OpenApi, openApiSchema } from "./openapi-document.ts";
import { listOperations } from "./openapi-operations.ts";
import { requestApp } from "./request-app.ts";
import type { SourceResult } from "./source-result.ts";

/**
 * Lists the operations of the OpenAPI document in the repository.
 *
 * @returns `null` when there is no document, or one without operations
 */
export async function listRepositoryOperations(sourceDirectory: string): Promise<SourceResult | null> {
  const file = await readOpenApiFile(sourceDirectory);
  if (file === null) return null;
  if (file.document === undefined) return withProblem(`${file.name} is too large or cannot be parsed.`);
  const document = openApiSchema.safeParse(file.document);
  if (!document.success)
    return withProblem(`${file.name} is not an OpenAPI 3 document. Older versions are not supported.`);
  return toSourceResult(document.data);
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
    const { status, text } = await requestApp(app, { path }, signal);
    const document = openApiSchema.safeParse(status === 200 ? parseJson(text) : undefined);
    const result = document.success ? toSourceResult(document.data) : null;
    if (result !== null) return result;
  }
  return null;
}

/** A document without operations counts as none, so that the next source is tried. */
function toSourceResult(document: OpenApi): SourceResult | null {
  const result = listOperations(document);
  return result.candidates.length === 0 && result.problems.length === 0 ? null : result;
}

function withProblem(problem: string): SourceResult {
  return { candidates: [], problems: [problem] };
}

const FOLDERS = [".", "docs"] as const;
const NAMES = ["openapi.json", "openapi.yaml", "openapi.yml"] as const;
const MAX_JSON_BYTES = 2 * 1024 * 1024;
const MAX_YAML_BYTES = 512 * 1024;

interface OpenApiFile {
  /** The path in the repository. */
  name: string;
  /** `undefined` when the file is too large or cannot be parsed. */
  document: unknown;
}

/**
 * Reads the OpenAPI document at the root of the repository or in its folder `docs`.
 *
 * @returns `null` when there is none
 */
async function readOpenApiFile(sourceDirectory: string): Promise<OpenApiFile | null> {
  for (const folder of FOLDERS) {
    if (!(await isDirectory(path.join(sourceDirectory, folder)))) continue;
    for (const file of NAMES) {
      const name = path.join(folder, file);
      const content = await readDocument(path.join(sourceDirectory, name));
      if (content !== null) return { name, ...content };
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

async function readDocument(file: string): Promise<{ document: unknown } | null> {
  const isJson = file.endsWith(".json");
  try {
    const text = await readUntrusted(file, isJson ? MAX_JSON_BYTES : MAX_YAML_BYTES);
    if (text === null) return null;
    return { document: isJson ? parseJson(text) : await parseYaml(text) };
  } catch (error) {
    if (error instanceof RangeError) return { document: undefined };
    throw error;
  }
}

const YAML_SCRIPT = new URL("./inside/parse-yaml.ts", import.meta.url);
const YAML_TIMEOUT_MS = 3000;

/** @returns `undefined` when the text is not YAML, or parsing it takes too much time or memory */
async function parseYaml(text: string): Promise<unknown> {
  const json = await parseInThread(YAML_SCRIPT, text, YAML_TIMEOUT_MS);
  return typeof json === "string" ? parseJson(json) : undefined;
}
