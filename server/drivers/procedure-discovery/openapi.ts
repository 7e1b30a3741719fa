import type { Finding } from "./source-result.ts";
import type { IsolatedApp } from "../../../domain/ports/isolated-runtime.ts";
import { ask } from "./isolated-app.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import { type OpenApi, openApiSchema } from "./openapi-document.ts";
import { operations } from "./openapi-operations.ts";
import { readRepositoryDocument } from "./openapi-file.ts";

/** The operations of the OpenAPI document in the repository; `null` when there is none. */
export async function repositoryOperations(sourceDirectory: string): Promise<Finding | null> {
  const read = await readRepositoryDocument(sourceDirectory);
  if (read === null) return null;
  if (read.document === undefined)
    return { candidates: [], problems: [`${read.name} is too large or cannot be parsed.`] };
  const document = openApiSchema.safeParse(read.document);
  if (!document.success)
    return {
      candidates: [],
      problems: [`${read.name} is not a document of OpenAPI 3; older versions cannot be read.`],
    };
  return findingOf(document.data);
}

/**
 * The operations of the OpenAPI document that the app itself serves; `null` when it serves none.
 *
 * @throws {Unanswered}
 */
export async function servedOperations(app: IsolatedApp, signal: AbortSignal): Promise<Finding | null> {
  const { status, text } = await ask(app, { path: "/openapi.json" }, signal);
  const document = openApiSchema.safeParse(status === 200 ? parseJson(text) : undefined);
  return document.success ? findingOf(document.data) : null;
}

/** A document without operations says nothing, so what comes next may still. */
function findingOf(document: OpenApi): Finding | null {
  const finding = operations(document);
  return finding.candidates.length === 0 && finding.problems.length === 0 ? null : finding;
}
