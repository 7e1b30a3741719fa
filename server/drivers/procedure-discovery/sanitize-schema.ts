import { DISCOVERY_CAPS, type JsonSchema } from "../../../domain/ports/procedure-discovery.ts";

/** Removes characters that the database cannot store: NUL and lone surrogates. */
export function sanitizeText(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}

/** Keywords that give the references of a schema another root, or select another dialect. */
const IDENTITY_KEYWORDS = new Set(["$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "$comment"]);

/**
 * Makes a schema safe to store and to show to agents. The result has no references outside itself and is within the
 * caps.
 *
 * @returns the schema and its size, or `null` when it is too large or nested too deep
 */
export function sanitizeSchema(schema: JsonSchema): { schema: JsonSchema; bytes: number } | null {
  try {
    const sanitized = sanitizeNode(schema, 0) as JsonSchema;
    const bytes = Buffer.byteLength(JSON.stringify(sanitized));
    return bytes > DISCOVERY_CAPS.schemaBytes ? null : { schema: sanitized, bytes };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** @throws {RangeError} when the node is nested too deep */
function sanitizeNode(node: unknown, depth: number): unknown {
  if (typeof node === "string") return sanitizeText(node);
  if (typeof node !== "object" || node === null) return node;
  if (depth > DISCOVERY_CAPS.schemaDepth) throw new RangeError("The schema is nested too deep");
  if (Array.isArray(node)) return node.map((item) => sanitizeNode(item, depth + 1));
  const kept = Object.entries(node).filter(([key, value]) => isAllowed(key, value));
  return Object.fromEntries(kept.map(([key, value]) => [sanitizeText(key), sanitizeNode(value, depth + 1)]));
}

function isAllowed(key: string, value: unknown): boolean {
  if (key === "__proto__") return false;
  // A property of the input may have the name of a keyword. Its value is then a schema, not a string.
  if (typeof value !== "string") return true;
  const isReference = key === "$ref" || key === "$dynamicRef";
  return !IDENTITY_KEYWORDS.has(key) && !(isReference && !value.startsWith("#"));
}
