import {
  BODY_TYPES,
  type JsonSchema,
  type RequestBody,
  type RequestParameter,
} from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { type Parameter, requestBodySchema } from "./openapi-document.ts";
import type { References } from "./openapi-references.ts";
import { toJsonSchema } from "./openapi-to-json-schema.ts";

/** The input of an operation as one object, and where each of its properties goes in the request. */
export interface OperationInput {
  inputSchema: JsonSchema;
  parameters: RequestParameter[];
  body: RequestBody | null;
}

interface InputProperty {
  schema: JsonSchema;
  required: boolean;
}

type InputProperties = Map<string, InputProperty>;

/** @returns `null` when the operation requires a body of a type that agents cannot send */
export function buildOperationInput(
  parameters: readonly Parameter[],
  requestBody: unknown,
  references: References,
): OperationInput | null {
  const properties: InputProperties = new Map();
  const placed: RequestParameter[] = [];
  for (const parameter of parameters) {
    if (parameter.in === "cookie") continue;
    const { name, in: location, required, explode = location === "query" } = parameter;
    const property = findFreeName(properties, name, location);
    placed.push({ name, in: location, property, explode });
    properties.set(property, {
      schema: getParameterSchema(parameter, references),
      required: required || location === "path",
    });
  }
  const body = addBody(properties, requestBody, references);
  if (body === "unsupported") return null;
  return { inputSchema: toObjectSchema(properties), parameters: placed, body };
}

function getParameterSchema({ schema, description }: Parameter, references: References): JsonSchema {
  const converted = toJsonSchema(references.resolve(schema));
  return description === undefined ? converted : { description, ...converted };
}

/** Parameters in different places may have the same name. The later one gets a prefix. */
function findFreeName(properties: InputProperties, name: string, prefix: string): string {
  let free = name;
  while (properties.has(free)) free = `${prefix}_${free}`;
  return free;
}

/**
 * Adds the request body to the properties of the input: property by property when it is an object whose names are all
 * free, otherwise as one property.
 */
function addBody(
  properties: InputProperties,
  requestBody: unknown,
  references: References,
): RequestBody | null | "unsupported" {
  const body = requestBodySchema.safeParse(references.follow(requestBody));
  if (!body.success) return null;
  const { content, required } = body.data;
  const contentType = BODY_TYPES.find((type) => content[type] !== undefined);
  if (contentType === undefined) return required ? "unsupported" : null;
  const schema = toJsonSchema(references.resolve(content[contentType]?.schema));
  const bodyProperties = getOnlyProperties(schema);
  if (bodyProperties === null || Object.keys(bodyProperties).some((name) => properties.has(name))) {
    const property = findFreeName(properties, "body", "request");
    properties.set(property, { schema, required });
    return { contentType, property };
  }
  const requiredNames: unknown[] = required && Array.isArray(schema["required"]) ? schema["required"] : [];
  for (const [name, value] of Object.entries(bodyProperties))
    properties.set(name, { schema: isRecord(value) ? value : {}, required: requiredNames.includes(name) });
  return { contentType, property: null };
}

/** @returns the properties of an object that its properties describe completely, otherwise `null` */
function getOnlyProperties({ type, properties, allOf, anyOf, oneOf, additionalProperties }: JsonSchema) {
  if (type !== "object" || !isRecord(properties) || allOf || anyOf || oneOf) return null;
  return isRecord(additionalProperties) || additionalProperties === true ? null : properties;
}

function toObjectSchema(properties: InputProperties): JsonSchema {
  const required = [...properties].filter(([, property]) => property.required).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries([...properties].map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
