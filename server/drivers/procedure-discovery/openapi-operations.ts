import {
  DISCOVERY_CAPS,
  type DiscoveredProcedure,
  HTTP_METHODS,
  type HttpMethod,
  type JsonSchema,
} from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { fitSchemas } from "./fit-schemas.ts";
import { isForm, isJsonMediaType } from "./openapi-body.ts";
import {
  type OpenApi,
  type OpenApiOperation,
  operationSchema,
  type Parameter,
  responseSchema,
} from "./openapi-document.ts";
import { buildOperationInput, type OperationInput } from "./openapi-input.ts";
import { listParameters } from "./openapi-parameters.ts";
import type { References } from "./openapi-references.ts";
import { SchemaConverter } from "./openapi-schemas.ts";
import { getServerPath } from "./openapi-server-path.ts";
import { type LeftOut, quoteList, type SourceResult } from "./source-result.ts";
import { UniqueNames } from "./unique-names.ts";
import { REJECTIONS } from "./validate-procedures.ts";

/** Bounds the time for a hostile document, and the list of operations that are left out. */
const MAX_OPERATIONS = 10_000;
/** Below the cap, because a converted schema is embedded in the schema of the input. */
const MAX_SCHEMA_BYTES = DISCOVERY_CAPS.schemaBytes - 4096;
/** The share of the inputs in the bytes of all schemas. Outputs are optional, and get what the inputs leave. */
const INPUT_BYTES = DISCOVERY_CAPS.totalBytes * 0.75;
/** Methods of OpenAPI 3.2 and before that agents do not call: they describe other operations. */
const OTHER_METHODS = ["head", "options", "trace", "query"];

interface ListedOperation {
  method: HttpMethod;
  /** The path in the document, with `{name}` for each path parameter. */
  template: string;
  pathItem: Record<string, unknown>;
  operation: OpenApiOperation;
}

interface CallableOperation extends ListedOperation {
  path: string;
  parameters: Parameter[];
}

/** Converts every operation of a document to a procedure, or says why it is left out. */
export function listOperations(document: OpenApi, references: References): SourceResult {
  const leftOut: LeftOut[] = [];
  const callable: CallableOperation[] = [];
  for (const listed of iterateOperations(document, references, leftOut)) {
    const result = toCallable(listed, document, references);
    if (typeof result === "string") leftOut.push({ name: `${listed.method} ${listed.template}`, reason: result });
    else if (callable.length === DISCOVERY_CAPS.procedures)
      leftOut.push({ name: `${listed.method} ${listed.template}`, reason: REJECTIONS.count });
    else callable.push(result);
  }
  const candidates = toCandidates(callable, references);
  return { candidates, problems: describeMissing(references), leftOut };
}

function* iterateOperations(document: OpenApi, references: References, leftOut: LeftOut[]): Generator<ListedOperation> {
  let count = 0;
  for (const [template, value] of Object.entries(document.paths)) {
    const { value: pathItem } = references.follow(value);
    if (template.startsWith("x-") || !isRecord(pathItem)) continue;
    for (const method of listMethods(pathItem)) {
      const name = `${method.toUpperCase()} ${template}`;
      if (++count > MAX_OPERATIONS) {
        leftOut.push({
          name,
          reason: `only the first ${MAX_OPERATIONS} operations are read, so all after it are left out`,
        });
        return;
      }
      // A key of YAML without a value is an operation without details.
      const operation = operationSchema.safeParse(references.follow(pathItem[method]).value ?? {});
      const known = HTTP_METHODS.find((candidate) => candidate.toLowerCase() === method);
      if (known === undefined) leftOut.push({ name, reason: "agents cannot use this method" });
      else if (!operation.success) leftOut.push({ name, reason: "its description is not an object" });
      else yield { method: known, template, pathItem, operation: operation.data };
    }
  }
}

function listMethods(pathItem: Record<string, unknown>): string[] {
  const methods = [...HTTP_METHODS.map((method) => method.toLowerCase()), ...OTHER_METHODS];
  return methods.filter((method) => Object.hasOwn(pathItem, method));
}

/** @returns a text that says why agents cannot call the operation */
function toCallable(listed: ListedOperation, document: OpenApi, references: References): CallableOperation | string {
  const { template, pathItem, operation } = listed;
  const serverPath = getServerPath([operation.servers, pathItem["servers"], document.servers]);
  if (serverPath === null) return "the URL of its server has a variable without a default";
  // A fragment only tells two operations of one path apart.
  const ownPath = encodeLiterals(template.replace(/#.*$/s, ""));
  const path = `${encodeLiterals(serverPath)}${ownPath}`;
  if (!isSafePath(ownPath) || !isSafePath(path)) return "its path has an unsupported form";
  const parameters = listParameters(pathItem, operation, template, references);
  if (typeof parameters === "string") return parameters;
  // The schemas do not matter, except that a form may require a file.
  let input = buildOperationInput(parameters, operation.requestBody, references, 0);
  if (typeof input !== "string" && input.body !== null && isForm(input.body.contentType))
    input = buildOperationInput(parameters, operation.requestBody, references, MAX_SCHEMA_BYTES);
  return typeof input === "string" ? input : { ...listed, path, parameters };
}

/** Builds the procedures so that all schemas together are within the cap: large ones lose their deepest levels. */
function toCandidates(callable: readonly CallableOperation[], references: References): DiscoveredProcedure[] {
  const inputs = fitSchemas(
    callable.map(({ parameters, operation }) => (maxBytes: number) => {
      const input = buildOperationInput(parameters, operation.requestBody, references, maxBytes) as OperationInput;
      return { value: input, schema: input.inputSchema };
    }),
    { totalBytes: INPUT_BYTES, maxBytes: MAX_SCHEMA_BYTES },
  );
  const outputs = fitSchemas(
    callable.map(({ operation }) => (maxBytes: number) => {
      const schema = getOutputSchema(operation, references, maxBytes);
      return { value: schema, schema };
    }),
    { totalBytes: DISCOVERY_CAPS.totalBytes - inputs.bytes, maxBytes: MAX_SCHEMA_BYTES },
  );
  const names = new UniqueNames();
  return callable.map((operation, at) =>
    toCandidate(operation, inputs.values[at] as OperationInput, outputs.values[at] ?? null, names),
  );
}

function toCandidate(
  { method, template, path, operation }: CallableOperation,
  { inputSchema, parameters, body, required }: OperationInput,
  outputSchema: JsonSchema | null,
  names: UniqueNames,
): DiscoveredProcedure {
  const fallback = `${method.toLowerCase()}_${template === "/" ? "root" : template}`;
  return {
    name: names.add(operation.operationId ?? fallback, fallback),
    kind: method === "GET" ? "query" : "mutation",
    description: operation.description || operation.summary || "",
    inputSchema,
    outputSchema,
    invocation: { via: "openapi", method, path, parameters, body, ...(required.length > 0 && { required }) },
  };
}

function getOutputSchema(
  { responses = {} }: OpenApiOperation,
  references: References,
  maxBytes: number,
): JsonSchema | null {
  const status = Object.keys(responses).find((key) => /^2(\d\d|XX)$/i.test(key)) ?? "default";
  const { data } = responseSchema.safeParse(references.follow(responses[status]).value);
  const content = Object.entries(data?.content ?? {});
  const schema = content.find(([type]) => isJsonMediaType(type) || type === "*/*")?.[1].schema;
  if (schema === undefined || schema === null) return null;
  const converter = new SchemaConverter(references, { marker: "writeOnly", maxBytes });
  const converted = converter.add(schema);
  converter.finish();
  return converted;
}

function describeMissing({ missing }: References): string[] {
  if (missing.size === 0) return [];
  const remote = [...missing].filter(isRemote);
  const local = [...missing].filter((target) => !isRemote(target));
  return [
    ...(local.length > 0
      ? [`These references lead nowhere, so any value is accepted there: ${quoteList(local)}.`]
      : []),
    ...(remote.length > 0
      ? [`References to other hosts are not followed, so any value is accepted there: ${quoteList(remote)}.`]
      : []),
  ];
}

function isRemote(target: string): boolean {
  return /^([a-z][a-z\d+.-]*:)?\/\//i.test(target);
}

const MAX_PATH_CHARACTERS = 1000;

/** Encodes what a URL cannot contain, such as other scripts and spaces, outside of the placeholders. */
function encodeLiterals(path: string): string {
  const parts = path.toWellFormed().split(/(\{[^{}]*\})/);
  return parts
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent)))
    .join("");
}

/**
 * Whether a path stays within the app for every URL parser: two slashes at its start name another host, and a segment
 * of dots leads to a parent folder. The values of placeholders are checked in each call.
 */
function isSafePath(path: string): boolean {
  if (path.length > MAX_PATH_CHARACTERS || path.startsWith("//")) return false;
  const literal = path.replaceAll(/\{[^{}]+\}/g, "x");
  if (!/^\/([A-Za-z0-9._~!$&'()*+,;=:@%/-]*)$/.test(literal)) return false;
  return literal.split("/").every((segment) => !/^(\.|%2e){1,2}$/i.test(segment));
}
