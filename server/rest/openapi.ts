import { generateOpenApiDocument } from "trpc-to-openapi";
import { errorBody } from "../../routers/apps.schema.ts";
import { appRouter } from "../../routers/index.ts";
import { describeErrors, describeHeaders } from "./documented-errors.ts";
import { type Operation, OPERATIONS } from "./operations.ts";
import { STREAMED_OPERATIONS } from "./streams/streamed-operations.ts";
import { allowUnknownFields, describeDefaults } from "./schema-corrections.ts";

/** The parts of an OpenAPI document that this file changes. */
interface Document {
  info: Record<string, unknown>;
  tags?: unknown;
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, unknown> };
}

interface DocumentedOperation {
  description?: string;
  parameters?: { in: string; name: string; required?: boolean; schema?: Record<string, unknown> }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: unknown }> };
  responses: Record<string, DocumentedResponse>;
}

interface ObjectSchema {
  properties?: Record<string, { description?: string }>;
  required?: string[];
}

interface DocumentedResponse {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: unknown }>;
}

const DESCRIPTION =
  "Deploys apps from git repositories, updates, lists, inspects and deletes them, and reads their logs. A path with `GET` also has `HEAD`.";

const TAGS = [
  { name: "Apps", description: "Apps of the organization" },
  { name: "Deployments", description: "Deployments of an app: deploy again, roll back, cancel" },
  { name: "Environments", description: "Environments of an app, such as staging, and promotions between them" },
  { name: "Procedures", description: "Procedures that an app offers: list and call them" },
  { name: "Git connections", description: "Git hosts whose private repositories can be deployed" },
  { name: "Push to deploy", description: "Pushes to the repository of an app that deploy it" },
  { name: "Agents", description: "Servers, their agents, and the instructions of agents" },
  { name: "Company Knowledge", description: "Documents of the organization, and answers from them with citations" },
  { name: "Skills", description: "Skills of the organization, and which of them agents can run" },
  { name: "Variables", description: "Environment variables of an app" },
  { name: "Sessions", description: "Sessions of agents: transcripts and token counters" },
  {
    name: "Projects",
    description: "Documents of clients, engagements and capabilities, for the agents that work on them",
  },
  { name: "Memories", description: "What agents remember beyond one session" },
  { name: "Usage", description: "The plan of the organization, and what it has used" },
  { name: "Audit", description: "The audit log of the organization" },
  { name: "Organization", description: "Settings of the organization" },
  { name: "Tokens", description: "Tokens of the organization and of its users" },
];

/**
 * Creates the OpenAPI 3.1.0 document of the REST API, version 1.0.0. trpc-to-openapi documents every success as 200, every
 * error with a schema of its own, and request bodies without names. This function corrects that.
 */
export function createOpenApiDocument(baseUrl: string): object {
  const document = generateOpenApiDocument(appRouter as never, {
    title: "App Provisioning Service",
    description: DESCRIPTION,
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
  allowUnknownFields(document.components.schemas);
  for (const operation of OPERATIONS) {
    const documented = document.paths[operation.path]?.[operation.method.toLowerCase()];
    if (documented === undefined) continue;
    addRequiredAccess(documented, operation);
    correctResponses(documented, operation);
    if (documented.requestBody !== undefined) documented.requestBody.required = operation.requiresBody;
    nameRequestBody(document, documented, operation);
    correctParameters(documented, operation);
    correctStreamedBody(documented, operation);
    correctDownload(documented, operation);
    addStream(documented, operation);
  }
  for (const name of Object.keys(document.components.schemas))
    if (name.startsWith("error.")) delete document.components.schemas[name];
  return document;
}

/** Documents the scope and the role that a call requires. */
function addRequiredAccess(documented: DocumentedOperation, { access: { scope, role } }: Operation): void {
  const required = role === "member" ? `Scope: \`${scope}\`.` : `Scope: \`${scope}\`. Role: \`${role}\`.`;
  documented.description = [documented.description, required].filter((text) => text !== undefined).join(" ");
}

/** The generator documents only the errors that a procedure names, with the same description for all procedures. */
function correctResponses(documented: DocumentedOperation, operation: Operation): void {
  const { 200: success } = documented.responses;
  if (success === undefined) throw new Error(`${operation.procedure} has no documented success`);
  allowUnknownFields(success.content);
  const status = String(operation.successStatus);
  documented.responses = { [status]: { ...success, headers: describeHeaders(status) } };
  for (const [code, description] of Object.entries(describeErrors(operation))) {
    const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
    documented.responses[code] = { description, headers: describeHeaders(code), content };
  }
}

/** The generator knows no header. Some generators of clients make a parameter with a default value required. */
function correctParameters(documented: DocumentedOperation, { isRepeatable }: Operation): void {
  const parameters = documented.parameters ?? [];
  for (const { schema } of parameters) delete schema?.["default"];
  documented.parameters = [...parameters, ORGANIZATION, ...(isRepeatable ? [IDEMPOTENCY_KEY] : [])];
}

/** The generator documents all fields beside those of the path as JSON. Of a streamed body, only one field is the body. */
function correctStreamedBody(documented: DocumentedOperation, { procedure, streamedBody }: Operation): void {
  if (streamedBody === null) return;
  const json = documented.requestBody?.content["application/json"]?.schema as ObjectSchema | undefined;
  const { [streamedBody.field]: file, ...others } = json?.properties ?? {};
  if (file === undefined) throw new Error(`${procedure} has no field for its body`);
  const content = Object.fromEntries(streamedBody.contentTypes.map((type) => [type, { schema: file }]));
  documented.requestBody = { ...documented.requestBody, content };
  const parameters = Object.entries(others).map(([name, { description, ...schema }]) => ({
    in: "query",
    name,
    required: json?.required?.includes(name) === true,
    ...(description !== undefined && { description }),
    schema,
  }));
  documented.parameters = [...(documented.parameters ?? []), ...parameters];
}

/** The generator documents every response as JSON. */
function correctDownload(documented: DocumentedOperation, { openapi, successStatus }: Operation): void {
  const success = documented.responses[successStatus];
  if (openapi.download === undefined || success === undefined) return;
  success.content = { [openapi.download]: { schema: { type: "string", format: "binary" } } };
}

const ORGANIZATION = {
  in: "header",
  name: "X-Service-Org-Id",
  required: false,
  description: "The organization of the call, for a token of a user who is a member of several",
  schema: { type: "string" },
};

const IDEMPOTENCY_KEY = {
  in: "header",
  name: "Idempotency-Key",
  required: false,
  description: "Makes it safe to repeat the call",
  schema: { type: "string", maxLength: 255 },
};

/** Documents the stream that an operation has with `follow`. */
function addStream(documented: DocumentedOperation, { procedure, successStatus }: Operation): void {
  const stream = STREAMED_OPERATIONS[procedure];
  const success = documented.responses[successStatus];
  if (stream === undefined || success === undefined) return;
  documented.description = `${documented.description ?? ""} ${stream.description}`.trim();
  const { parameters = [] } = documented;
  documented.parameters = [...parameters, FOLLOW, ...(stream.canContinue ? [LAST_EVENT_ID] : [])];
  success.content = { ...success.content, "text/event-stream": { schema: { type: "string" } } };
  if (!stream.canContinue) return;
  const headers = describeHeaders("204");
  documented.responses["204"] = { description: "`Last-Event-ID` is the id of the event `end`", headers };
}

const FOLLOW = {
  in: "query",
  name: "follow",
  required: false,
  description:
    "Whether to respond with server-sent events; `follow` without a value means true. Without it, the header `Accept: text/event-stream` means true",
  schema: { type: "string", enum: ["true", "false"] },
};

const LAST_EVENT_ID = {
  in: "header",
  name: "Last-Event-ID",
  required: false,
  description: "With `follow`: continues after the event with this id",
  schema: { type: "string" },
};

/** The generator removes path parameters from a body schema and thereby its name. Other bodies get their name back. */
function nameRequestBody(document: Document, documented: DocumentedOperation, { path, input }: Operation): void {
  const json = documented.requestBody?.content["application/json"];
  if (json === undefined) return;
  describeDefaults(json.schema);
  const name = input?.meta()?.id;
  if (name === undefined || path.includes("{")) return;
  document.components.schemas[name] = json.schema;
  json.schema = { $ref: `#/components/schemas/${name}` };
}
