import { generateOpenApiDocument } from "trpc-to-openapi";
import { errorBody } from "../../routers/apps.schema.ts";
import { appRouter } from "../../routers/index.ts";
import { OPERATIONS } from "./operations.ts";

/** The parts of an OpenAPI document that are changed here. */
interface Document {
  info: Record<string, unknown>;
  tags?: unknown;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
}

interface Operation {
  parameters?: { in: string; name: string }[];
  requestBody?: { content: Record<string, { schema: unknown }> };
  responses: Record<string, Answer>;
}

interface Answer {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: unknown }>;
}

/**
 * The description of the REST interface: OpenAPI 3.1.0, version 1.0.0. trpc-to-openapi documents every success as 200,
 * every error in a form of its own and request bodies without names; this says what really happens.
 */
export function openApiDocument(baseUrl: string): object {
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
  document.tags = [
    { name: "Apps", description: "Apps of the organization" },
    { name: "Audit", description: "What was done in the organization" },
    { name: "Tokens", description: "Tokens of the organization and of its people" },
  ];
  for (const { method, path, successStatus, input, openapi } of OPERATIONS) {
    const operation = document.paths[path]?.[method.toLowerCase()];
    if (operation === undefined) continue;
    describeErrors(operation, openapi.errorResponses);
    correct(operation, successStatus, path, input, document);
  }
  for (const name of Object.keys(document.components.schemas))
    if (name.startsWith("error.")) delete document.components.schemas[name];
  return document;
}

/** The generator says of a status everywhere what the first procedure says of it. */
function describeErrors({ responses }: Operation, said: unknown): void {
  for (const [status, description] of Object.entries((said ?? {}) as Record<string, string>)) {
    const answer = responses[status];
    if (answer !== undefined) responses[status] = { ...answer, description };
  }
}

interface Named {
  meta?(): { id?: string } | undefined;
}

function correct(
  operation: Operation,
  successStatus: number | undefined,
  path: string,
  input: Named | undefined,
  document: Document,
): void {
  const { 200: success, ...rest } = operation.responses;
  operation.responses = { ...(success === undefined ? {} : { [successStatus ?? 200]: success }), ...rest };
  for (const [status, answer] of Object.entries(operation.responses))
    operation.responses[status] = withHeaders(Number(status), Number(status) >= 400 ? asError(answer) : answer);
  nameBody(operation, path, input?.meta?.()?.id, document);
}

function asError({ description }: Answer): Answer {
  return { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } };
}

function withHeaders(status: number, answer: Answer): Answer {
  const requestId = {
    "X-Request-Id": { description: "Identifies this call in the service's log", schema: { type: "string" } },
  };
  const retryAfter = { "Retry-After": { description: "Seconds to wait", schema: { type: "integer", minimum: 1 } } };
  return { ...answer, headers: { ...answer.headers, ...requestId, ...(status === 429 ? retryAfter : {}) } };
}

/** The generator takes path parameters out of the body, and the body's name with them. */
function nameBody(operation: Operation, path: string, name: string | undefined, document: Document): void {
  const json = operation.requestBody?.content["application/json"];
  if (name === undefined || json === undefined || path.includes("{")) return;
  document.components.schemas[name] = json.schema;
  json.schema = { $ref: `#/components/schemas/${name}` };
  if (path !== "/v1/apps/deploy") return;
  operation.parameters = [
    ...(operation.parameters ?? []),
    {
      in: "header",
      name: "Idempotency-Key",
      ...{ required: false, description: "Makes repeating the call safe", schema: { type: "string", maxLength: 255 } },
    },
  ];
}
