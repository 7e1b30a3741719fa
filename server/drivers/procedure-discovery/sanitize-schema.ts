import { DISCOVERY_CAPS, type JsonSchema } from "../../../domain/ports/procedure-discovery.ts";

/** Text as it can be stored: databases take neither NUL nor half a character. */
export function cleanText(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}

/** They would give the references of a schema another root, or claim another dialect. */
const IDENTITIES = new Set(["$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "$comment"]);

/**
 * A schema that can be stored and handed on: it refers to nothing outside of itself, and is within the caps.
 *
 * @returns the schema and its size, or `null` when it is too large or too deep
 */
export function cleanSchema(schema: JsonSchema): { schema: JsonSchema; bytes: number } | null {
  try {
    const cleaned = clean(schema, 0) as JsonSchema;
    const bytes = Buffer.byteLength(JSON.stringify(cleaned));
    return bytes > DISCOVERY_CAPS.schemaBytes ? null : { schema: cleaned, bytes };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** @throws {RangeError} when it is nested too deep */
function clean(node: unknown, depth: number): unknown {
  if (typeof node === "string") return cleanText(node);
  if (typeof node !== "object" || node === null) return node;
  if (depth > DISCOVERY_CAPS.schemaDepth) throw new RangeError("The schema is nested too deep");
  if (Array.isArray(node)) return node.map((item) => clean(item, depth + 1));
  const kept = Object.entries(node).filter(([key, value]) => keeps(key, value));
  return Object.fromEntries(kept.map(([key, value]) => [cleanText(key), clean(value, depth + 1)]));
}

function keeps(key: string, value: unknown): boolean {
  if (key === "__proto__") return false;
  // A property of the input may have such a name; its value is then a schema, and no text.
  if (typeof value !== "string") return true;
  return !IDENTITIES.has(key) && !((key === "$ref" || key === "$dynamicRef") && !value.startsWith("#"));
}
