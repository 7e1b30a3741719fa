import {
  BODY_TYPES,
  type JsonSchema,
  type RequestBody,
  type RequestParameter,
} from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { bodySchema, type Parameter } from "./openapi-document.ts";
import type { References } from "./openapi-references.ts";
import { jsonSchemaOf } from "./openapi-schema.ts";

/** An operation's input as one object, and where its properties go in the request. */
export interface OperationInput {
  inputSchema: JsonSchema;
  parameters: RequestParameter[];
  body: RequestBody | null;
}

interface Part {
  schema: JsonSchema;
  required: boolean;
}

/** @returns `null` when the request needs a body of a kind that agents cannot send */
export function operationInput(
  parameters: readonly Parameter[],
  requestBody: unknown,
  references: References,
): OperationInput | null {
  const parts = new Map<string, Part>();
  const placed: RequestParameter[] = [];
  for (const parameter of parameters) {
    if (parameter.in === "cookie") continue;
    const property = freeName(parts, parameter.name, parameter.in);
    const { name, in: place, required, explode = place === "query" } = parameter;
    placed.push({ name, in: place, property, explode });
    parts.set(property, { schema: parameterJsonSchema(parameter, references), required: required || place === "path" });
  }
  const body = bodyOf(requestBody, references, parts);
  if (body === "unsupported") return null;
  return { inputSchema: objectOf(parts), parameters: placed, body };
}

function parameterJsonSchema({ schema, description }: Parameter, references: References): JsonSchema {
  const converted = jsonSchemaOf(references.resolve(schema));
  return description === undefined ? converted : { description, ...converted };
}

/** Two parameters may share a name when they are in different places. */
function freeName(taken: ReadonlyMap<string, unknown>, name: string, prefix: string): string {
  let free = name;
  while (taken.has(free)) free = `${prefix}_${free}`;
  return free;
}

/** Adds the body to `parts`: its properties one by one if it is an object and no name is taken, else as a whole. */
function bodyOf(
  requestBody: unknown,
  references: References,
  parts: Map<string, Part>,
): RequestBody | null | "unsupported" {
  const body = bodySchema.safeParse(references.follow(requestBody));
  if (!body.success) return null;
  const { content, required } = body.data;
  const contentType = BODY_TYPES.find((type) => content[type] !== undefined);
  if (contentType === undefined) return required ? "unsupported" : null;
  const schema = jsonSchemaOf(references.resolve(content[contentType]?.schema));
  const properties = flatProperties(schema);
  if (properties !== null && Object.keys(properties).every((name) => !parts.has(name))) {
    const needed = required && Array.isArray(schema["required"]) ? schema["required"] : [];
    for (const [name, inner] of Object.entries(properties))
      parts.set(name, { schema: isRecord(inner) ? inner : {}, required: needed.includes(name) });
    return { contentType, property: null };
  }
  const property = freeName(parts, "body", "request");
  parts.set(property, { schema, required });
  return { contentType, property };
}

/** The properties of an object that is nothing but its properties. */
function flatProperties({ type, properties, allOf, anyOf, oneOf, additionalProperties }: JsonSchema) {
  if (type !== "object" || !isRecord(properties) || allOf || anyOf || oneOf) return null;
  return isRecord(additionalProperties) || additionalProperties === true ? null : properties;
}

function objectOf(parts: ReadonlyMap<string, Part>): JsonSchema {
  const required = [...parts].filter(([, part]) => part.required).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries([...parts].map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
