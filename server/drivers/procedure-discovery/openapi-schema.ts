import type { JsonSchema } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";

/** Words of OpenAPI that are none of JSON Schema. */
const FOREIGN = new Set(["nullable", "discriminator", "xml", "externalDocs", "example"]);

/** The children of a schema, by how they are held. */
const ONE = ["items", "not", "additionalProperties"];
const MANY = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED = ["properties", "patternProperties", "$defs"];

/** JSON Schema 2020-12 of a schema of OpenAPI 3.0, or of 3.1, which is the same already. References are resolved. */
export function jsonSchemaOf(schema: unknown): JsonSchema {
  if (!isRecord(schema)) return {};
  const kept = Object.entries(schema).filter(([key]) => !FOREIGN.has(key));
  const converted: JsonSchema = Object.fromEntries(kept.map(([key, value]) => [key, childrenOf(key, value)]));
  exclusive(converted, "minimum", "exclusiveMinimum");
  exclusive(converted, "maximum", "exclusiveMaximum");
  return schema["nullable"] === true ? { anyOf: [converted, { type: "null" }] } : converted;
}

function childrenOf(key: string, value: unknown): unknown {
  if (ONE.includes(key)) return isRecord(value) ? jsonSchemaOf(value) : value;
  if (MANY.includes(key) && Array.isArray(value)) return value.map(jsonSchemaOf);
  if (!NAMED.includes(key) || !isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, jsonSchemaOf(inner)]));
}

/** In 3.0 a switch beside the bound; now the bound itself. */
function exclusive(schema: JsonSchema, bound: string, name: string): void {
  if (typeof schema[name] !== "boolean") return;
  if (schema[name] && typeof schema[bound] === "number") {
    schema[name] = schema[bound];
    delete schema[bound];
  } else delete schema[name];
}
