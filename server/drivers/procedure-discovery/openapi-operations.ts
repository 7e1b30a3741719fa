import {
  DISCOVERY_CAPS,
  type DiscoveredProcedure,
  HTTP_METHODS,
  type HttpMethod,
  type JsonSchema,
} from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import {
  type OpenApi,
  type OpenApiOperation,
  operationSchema,
  type Parameter,
  parameterSchema,
  responseSchema,
} from "./openapi-document.ts";
import { buildOperationInput } from "./openapi-input.ts";
import { References } from "./openapi-references.ts";
import { toJsonSchema } from "./openapi-to-json-schema.ts";
import { quoteList, type SourceResult } from "./source-result.ts";
import { UniqueNames } from "./unique-names.ts";

/** More than the cap on procedures, so that the operations beyond the cap can be named as left out. */
const MAX_OPERATIONS = DISCOVERY_CAPS.procedures + 100;

interface ListedOperation {
  method: HttpMethod;
  /** The path in the document, with `{name}` for each path parameter. */
  template: string;
  pathItem: Record<string, unknown>;
  operation: OpenApiOperation;
}

/** Converts every operation of a document to a procedure. */
export function listOperations(document: OpenApi): SourceResult {
  const references = new References(document);
  const names = new UniqueNames();
  const basePath = getBasePath(document);
  const candidates: DiscoveredProcedure[] = [];
  const unsupported: string[] = [];
  for (const listed of iterateOperations(document, references)) {
    references.reset();
    const candidate = toCandidate(listed, basePath, references, names);
    if (candidate === null) unsupported.push(`${listed.method} ${listed.template}`);
    else candidates.push(candidate);
  }
  const problem = `Left out because their path or request body has an unsupported form: ${quoteList(unsupported)}.`;
  return { candidates, problems: unsupported.length > 0 ? [problem] : [] };
}

function* iterateOperations(document: OpenApi, references: References): Generator<ListedOperation> {
  let count = 0;
  for (const [template, value] of Object.entries(document.paths)) {
    const pathItem = references.follow(value);
    if (!isRecord(pathItem)) continue;
    for (const method of HTTP_METHODS) {
      const operation = operationSchema.safeParse(references.follow(pathItem[method.toLowerCase()]));
      if (!operation.success) continue;
      if (++count > MAX_OPERATIONS) return;
      yield { method, template, pathItem, operation: operation.data };
    }
  }
}

/** @returns `null` when agents cannot call the operation */
function toCandidate(
  { method, template, pathItem, operation }: ListedOperation,
  basePath: string,
  references: References,
  names: UniqueNames,
): DiscoveredProcedure | null {
  const path = `${basePath}${template}`;
  if (!isSafePath(template) || !isSafePath(path)) return null;
  const listedParameters = listParameters(pathItem, operation, template, references);
  const input = buildOperationInput(listedParameters, operation.requestBody, references);
  if (input === null) return null;
  const { inputSchema, parameters, body } = input;
  return {
    name: names.add(operation.operationId ?? `${method.toLowerCase()}_${template}`),
    kind: method === "GET" ? "query" : "mutation",
    description: operation.description ?? operation.summary ?? "",
    inputSchema,
    outputSchema: getOutputSchema(operation, references),
    invocation: { via: "openapi", method, path, parameters, body },
  };
}

function getOutputSchema({ responses = {} }: OpenApiOperation, references: References): JsonSchema | null {
  const status = Object.keys(responses).find((key) => /^2(\d\d|XX)$/i.test(key)) ?? "default";
  const response = responseSchema.safeParse(references.follow(responses[status]));
  const schema = response.data?.content["application/json"]?.schema;
  return schema === undefined ? null : toJsonSchema(references.resolve(schema));
}

const MAX_SHARED_PARAMETERS = 100;

/**
 * Headers that identify the caller or describe the body. OpenAPI describes some of them elsewhere. An agent must not
 * set them.
 */
const RESERVED_HEADERS =
  /^(accept|authorization|connection|content-.*|cookie|expect|host|te|trailer|transfer-encoding|upgrade|mf-.*|x-service-.*|x-forwarded-.*)$/i;
const HEADER_NAME = /^[A-Za-z0-9_-]{1,100}$/;

/**
 * Lists the parameters of an operation. Its own replace those of its path. A placeholder in the path that the document
 * does not describe is a string.
 */
function listParameters(
  pathItem: Record<string, unknown>,
  operation: OpenApiOperation,
  template: string,
  references: References,
): Parameter[] {
  const shared = Array.isArray(pathItem["parameters"]) ? pathItem["parameters"].slice(0, MAX_SHARED_PARAMETERS) : [];
  const parameters = new Map<string, Parameter>();
  for (const value of [...shared, ...operation.parameters]) {
    const parameter = parameterSchema.safeParse(references.follow(value)).data;
    if (parameter !== undefined && isAllowed(parameter, template))
      parameters.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  for (const [, name = ""] of template.matchAll(/\{([^{}]+)\}/g))
    if (!parameters.has(`path ${name}`))
      parameters.set(`path ${name}`, { name, in: "path", required: true, schema: { type: "string" } });
  return [...parameters.values()];
}

function isAllowed({ name, in: location }: Parameter, template: string): boolean {
  if (location === "path") return template.includes(`{${name}}`);
  return location !== "header" || (HEADER_NAME.test(name) && !RESERVED_HEADERS.test(name));
}

const MAX_PATH_CHARACTERS = 1000;

/** The path prefix of the first server. Its host is ignored: requests always go to the app itself. */
function getBasePath({ servers }: OpenApi): string {
  const url = servers?.[0]?.url ?? "/";
  // A server variable can have any value.
  if (url.includes("{")) return "";
  const { pathname } = URL.parse(url, "http://app.localhost") ?? { pathname: "/" };
  return pathname.replace(/(?<!\/)\/+$/, "");
}

/**
 * Whether a path stays within the app for every URL parser: two slashes at its start name another host, and a segment
 * of dots leads to a parent folder.
 */
function isSafePath(path: string): boolean {
  if (path.length > MAX_PATH_CHARACTERS || path.startsWith("//")) return false;
  if (!/^\/([A-Za-z0-9._~!$&'()*+,;=:@%{}/-]*)$/.test(path)) return false;
  return path.split("/").every((segment) => !/^(\.|%2e){1,2}$/i.test(segment));
}
