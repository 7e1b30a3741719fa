import { generateOpenApiDocument } from "trpc-to-openapi";
import { errorBody } from "../../routers/apps.schema.ts";
import { appRouter } from "../../routers/index.ts";
import { type Operation, OPERATIONS } from "./operations.ts";

/** The parts of an OpenAPI document that this file changes. */
interface Document {
  info: Record<string, unknown>;
  tags?: unknown;
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, unknown> };
}

interface DocumentedOperation {
  parameters?: object[];
  requestBody?: { content: Record<string, { schema: unknown }> };
  responses: Record<string, DocumentedResponse>;
}

interface DocumentedResponse {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: unknown }>;
}

const TAGS = [
  { name: "Apps", description: "Apps of the organization" },
  { name: "Audit", description: "The audit log of the organization" },
  { name: "Tokens", description: "Tokens of the organization and of its users" },
];

/**
 * Creates the OpenAPI 3.1.0 document of the REST API, version 1.0.0. trpc-to-openapi documents every success as 200, every
 * error with a schema of its own, and request bodies without names. This function corrects that.
 */
export function createOpenApiDocument(baseUrl: string): object {
  const document = generateOpenApiDocument(appRouter as never, {
    title: "App Provisioning Service",
    description: "Deploys apps from git repositories, lists, inspects and deletes them, and reads their build logs.",
    version: "1.0.0",
    openApiVersion: "3.1.0",
    baseUrl,
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "An API key or an access token" },
    },
    defs: { Error: errorBody },
  }) as unknown as Document;
  document.info = { ...document.info, license: { name: "MIT", identifier: "MIT" } };
  document.tags = TAGS;
  for (const operation of OPERATIONS) {
    const documented = document.paths[operation.path]?.[operation.method.toLowerCase()];
    if (documented === undefined) continue;
    correctResponses(documented, operation);
    nameRequestBody(document, documented, operation);
  }
  for (const name of Object.keys(document.components.schemas))
    if (name.startsWith("error.")) delete document.components.schemas[name];
  return document;
}

function correctResponses(documented: DocumentedOperation, { successStatus, openapi }: Operation): void {
  // The generator uses the first description of a status for all operations.
  const descriptions = (openapi.errorResponses ?? {}) as Record<string, string>;
  const { 200: success, ...errors } = documented.responses;
  documented.responses = success === undefined ? {} : { [successStatus]: addHeaders(successStatus, success) };
  for (const [status, response] of Object.entries(errors)) {
    const description = descriptions[status] ?? response.description;
    const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
    documented.responses[status] = addHeaders(Number(status), { description, content });
  }
}

function addHeaders(status: number, response: DocumentedResponse): DocumentedResponse {
  const headers: Record<string, unknown> = {
    ...response.headers,
    "X-Request-Id": { description: "Identifies this call in the service's log", schema: { type: "string" } },
  };
  if (status === 429)
    headers["Retry-After"] = { description: "Seconds to wait", schema: { type: "integer", minimum: 1 } };
  return { ...response, headers };
}

/** The generator removes path parameters from a body schema and thereby its name. Other bodies get their name back. */
function nameRequestBody(document: Document, documented: DocumentedOperation, { path, input }: Operation): void {
  const json = documented.requestBody?.content["application/json"];
  const name = input?.meta()?.id;
  if (name === undefined || json === undefined || path.includes("{")) return;
  document.components.schemas[name] = json.schema;
  json.schema = { $ref: `#/components/schemas/${name}` };
  if (path !== "/v1/apps/deploy") return;
  const idempotencyKey = {
    in: "header",
    name: "Idempotency-Key",
    required: false,
    description: "Makes it safe to repeat the call",
    schema: { type: "string", maxLength: 255 },
  };
  documented.parameters = [...(documented.parameters ?? []), idempotencyKey];
}
