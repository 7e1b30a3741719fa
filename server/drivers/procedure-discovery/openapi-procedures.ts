import type { IsolatedApp } from "../../ports/isolated-runtime.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import { type OpenApi, openApiSchema } from "./openapi-document.ts";
import { readOpenApiFile } from "./openapi-file.ts";
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
