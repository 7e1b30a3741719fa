import {
  DISCOVERY_CAPS,
  HTTP_METHODS,
  type HttpMethod,
  type JsonSchema,
} from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { type Candidate, type Finding, quotedList } from "./source-result.ts";
import {
  type OpenApi,
  type Operation,
  operationSchema,
  type Parameter,
  parameterSchema,
  responseSchema,
} from "./openapi-document.ts";
import { operationInput } from "./openapi-input.ts";
import { basePath, isPlainPath } from "./openapi-paths.ts";
import { References } from "./openapi-references.ts";
import { jsonSchemaOf } from "./openapi-schema.ts";
import { UniqueNames } from "./unique-names.ts";

/** A little more than is let in, so that it can be told what was left out. */
const MAX_OPERATIONS = DISCOVERY_CAPS.procedures + 100;

/** Headers that decide who calls or how the request is read; OpenAPI has its own words for some of them. */
const RESERVED_HEADERS =
  /^(accept|authorization|connection|content-.*|cookie|expect|host|te|trailer|transfer-encoding|upgrade|mf-.*|x-service-.*|x-forwarded-.*)$/i;
const HEADER_NAME = /^[A-Za-z0-9_-]{1,100}$/;

/** Every operation of a document as a procedure. */
export function operations(document: OpenApi): Finding {
  const references = new References(document);
  const names = new UniqueNames();
  const base = basePath(document);
  const candidates: Candidate[] = [];
  const unusable: string[] = [];
  for (const [method, template, item, operation] of listed(document, references)) {
    references.restart();
    const path = `${base}${template}`;
    const parameters = parametersOf(item, operation, template, references);
    const input =
      isPlainPath(template) && isPlainPath(path) ? operationInput(parameters, operation.requestBody, references) : null;
    if (input === null) {
      unusable.push(`${method} ${template}`);
      continue;
    }
    const { inputSchema, ...placed } = input;
    candidates.push({
      name: names.take(operation.operationId ?? `${method.toLowerCase()}_${template}`),
      kind: method === "GET" ? "query" : "mutation",
      description: operation.description ?? operation.summary ?? "",
      inputSchema,
      outputSchema: outputOf(operation, references),
      invocation: { via: "openapi", method, path, ...placed },
    });
  }
  const problem = `Left out because their path or their body is of a kind that cannot be called: ${quotedList(unusable)}.`;
  return { candidates, problems: unusable.length > 0 ? [problem] : [] };
}

function* listed(
  document: OpenApi,
  references: References,
): Generator<[HttpMethod, string, Record<string, unknown>, Operation]> {
  let count = 0;
  for (const [template, value] of Object.entries(document.paths)) {
    const item = references.follow(value);
    if (!isRecord(item)) continue;
    for (const method of HTTP_METHODS) {
      const operation = operationSchema.safeParse(references.follow(item[method.toLowerCase()]));
      if (!operation.success) continue;
      if (++count > MAX_OPERATIONS) return;
      yield [method, template, item, operation.data];
    }
  }
}

/** Those of the operation replace those of its path; a placeholder that nobody describes is a text. */
function parametersOf(
  item: Record<string, unknown>,
  operation: Operation,
  template: string,
  references: References,
): Parameter[] {
  const shared = Array.isArray(item["parameters"]) ? item["parameters"].slice(0, 100) : [];
  const found = new Map<string, Parameter>();
  for (const value of [...shared, ...operation.parameters]) {
    const parameter = parameterSchema.safeParse(references.follow(value)).data;
    if (parameter !== undefined && isUsable(parameter, template))
      found.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  for (const [, name = ""] of template.matchAll(/\{([^{}]+)\}/g))
    if (!found.has(`path ${name}`))
      found.set(`path ${name}`, { name, in: "path", required: true, schema: { type: "string" } });
  return [...found.values()];
}

function isUsable({ name, in: place }: Parameter, template: string): boolean {
  if (place === "path") return template.includes(`{${name}}`);
  return place !== "header" || (HEADER_NAME.test(name) && !RESERVED_HEADERS.test(name));
}

function outputOf({ responses = {} }: Operation, references: References): JsonSchema | null {
  const status = Object.keys(responses).find((key) => /^2(\d\d|XX)$/i.test(key)) ?? "default";
  const response = responseSchema.safeParse(references.follow(responses[status]));
  const schema = response.data?.content["application/json"]?.schema;
  return schema === undefined ? null : jsonSchemaOf(references.resolve(schema));
}
