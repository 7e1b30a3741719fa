// Runs in a thread of its own, because a document of some megabytes keeps a processor busy for seconds. Receives where the
// document is. Posts the parts of a `SourceResult` one by one, each when the service asks for it, and `null` at the end.
import { parentPort, workerData } from "node:worker_threads";
import { openApiSchema } from "../openapi-document.ts";
import { type OpenApiDocuments, parseServedDocument, readRepositoryDocuments } from "../openapi-files.ts";
import { listOperations } from "../openapi-operations.ts";
import { MAX_DOCUMENT_BYTES, type OpenApiRequest, toParts } from "../openapi-parts.ts";
import { References } from "../openapi-references.ts";
import type { SourceResult } from "../source-result.ts";

async function read(request: OpenApiRequest): Promise<SourceResult | null> {
  if (request.from === "app") return convert(parseServedDocument(request.text), null);
  const { root, file } = request;
  try {
    return convert(await readRepositoryDocuments(root, file), file);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { candidates: [], problems: [`${file} is larger than ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB.`] };
  }
}

/** @param file - `null` for a document that the app serves, which must be valid to count as one */
function convert({ documents, problems }: OpenApiDocuments, file: string | null): SourceResult | null {
  const document = documents.get("");
  const parsed = openApiSchema.safeParse(document);
  if (!parsed.success) return file === null ? null : { candidates: [], problems: [describeInvalid(file, document)] };
  const result = listOperations(parsed.data, new References(documents));
  return { ...result, problems: [...problems, ...result.problems] };
}

function describeInvalid(file: string, document: unknown): string {
  if (typeof document !== "object" || document === null) return `${file} cannot be parsed.`;
  if ("swagger" in document)
    return `${file} is a Swagger 2.0 document. Only OpenAPI 3 is supported. Convert it, for example with swagger2openapi.`;
  return `${file} is not an OpenAPI 3 document: it must have the key "openapi" with a version such as 3.0.3 or 3.1.0.`;
}

async function main(): Promise<void> {
  const parts = toParts(await read(workerData as OpenApiRequest));
  parentPort?.on("message", () => {
    const next = parts.next();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is for windows; this is a thread
    parentPort?.postMessage(next.done === true ? null : next.value);
  });
}

await main();
