import type { JsonSchema, McpParameterHeader } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";

const MAX_HEADERS = 20;
const MAX_DEPTH = 10;
/** A token of RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];

/**
 * Finds the properties that a call also sends as `Mcp-Param-*` headers: those with `x-mcp-header` in the input schema
 * (revision 2026-07-28, Streamable HTTP). A server rejects a call without them.
 */
export function findParameterHeaders(schema: JsonSchema): McpParameterHeader[] {
  return visit(schema, []).slice(0, MAX_HEADERS);
}

function visit(schema: JsonSchema, path: string[]): McpParameterHeader[] {
  const { properties } = schema;
  if (!isRecord(properties) || path.length === MAX_DEPTH) return [];
  return Object.entries(properties).flatMap(([key, property]) => {
    if (!isRecord(property)) return [];
    const { type, "x-mcp-header": name } = property;
    const own =
      typeof name === "string" && TOKEN.test(name) && TYPES.includes(type) ? [{ name, path: [...path, key] }] : [];
    return [...own, ...visit(property, [...path, key])];
  });
}
