import { DISCOVERY_CAPS, type JsonSchema } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { mergeSchemas } from "./merge-schemas.ts";
import type { References } from "./openapi-references.ts";

/** Keywords with a value that is not a schema. All others are left out: OpenAPI's own, extensions, and those for references. */
const PLAIN_KEYWORDS = new Set([
  ...["type", "title", "description", "default", "const", "enum", "examples", "deprecated", "format", "pattern"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"],
  ...["minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minProperties", "maxProperties"],
  ...["contentEncoding", "contentMediaType", "dependentRequired"],
]);

/** Keywords whose value is a schema, a list of schemas, or an object of schemas by name. */
const SCHEMA_KEYWORDS = new Set(
  "items not additionalProperties contains if then else propertyNames unevaluatedItems unevaluatedProperties".split(
    " ",
  ),
);
const LIST_KEYWORDS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const MAP_KEYWORDS = new Set(["properties", "patternProperties", "dependentSchemas"]);
const TYPES = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

/** Every level of schemas can be two levels of JSON. */
const MAX_DEPTH = Math.floor(DISCOVERY_CAPS.schemaDepth / 2) - 4;
/** Longer descriptions and examples within a schema leave less room for its properties. */
const MAX_DESCRIPTION_CHARACTERS = 1000;
const MAX_EXAMPLES_BYTES = 500;
const MAX_VALUE_NODES = 5000;
const MAX_VALUE_DEPTH = 16;
/** The space of a schema that only says its type. */
const STUB_BYTES = 24;
/** Bounds the search for marked properties in one operation. */
const MAX_MARKED_LOOKUPS = 20_000;

export type Marker = "readOnly" | "writeOnly";

interface PendingSchema {
  source: unknown;
  target: JsonSchema;
  /** The references that led here. */
  chain: readonly string[];
  depth: number;
  /** Properties that another part of the same `allOf` marks. */
  marked: ReadonlySet<string>;
}

/**
 * Converts schemas of OpenAPI 3 to JSON Schema 2020-12 without references. The schemas of one input or output are
 * converted together, level by level, so that a bound on their size costs the deepest levels: a schema there only says its
 * type. References within references can grow exponentially.
 */
export class SchemaConverter {
  readonly #references: References;
  readonly #marker: Marker;
  readonly #pending: PendingSchema[] = [];
  #remainingBytes: number;
  #lookups = 0;

  /** @param marker - which properties are left out: an input has no read-only ones, an output no write-only ones */
  constructor(references: References, { marker, maxBytes }: { marker: Marker; maxBytes: number }) {
    this.#references = references;
    this.#marker = marker;
    this.#remainingBytes = maxBytes;
  }

  /** Converts the root of a schema. Its inner schemas are empty until `finish`. */
  add(source: unknown): JsonSchema {
    const target: JsonSchema = {};
    this.#convert({ source, target, chain: [], depth: 0, marked: new Set() });
    return target;
  }

  finish(): void {
    for (let at = 0; at < this.#pending.length; at++) this.#convert(this.#pending[at] as PendingSchema);
    this.#pending.length = 0;
  }

  #convert({ source, target, chain, depth, marked }: PendingSchema): void {
    const resolved = this.#references.follow(source, mergeSchemas, chain);
    const { value } = resolved;
    if (value === false) target["not"] = {};
    if (!isRecord(value)) return;
    if (this.#remainingBytes < STUB_BYTES || depth > MAX_DEPTH) return addType(target, value["type"]);
    const allMarked = this.#unite(marked, this.#findMarked(value, resolved.chain, 0));
    const at = { chain: resolved.chain, depth, marked: allMarked };
    const children: PendingSchema[] = [];
    const converted = this.#convertKeywords(value, at, children);
    const bytes = estimateBytes(converted, children.length);
    if (bytes > this.#remainingBytes) return addType(target, value["type"]);
    this.#remainingBytes -= bytes;
    this.#pending.push(...children);
    Object.assign(target, value["nullable"] === true ? { anyOf: [converted, { type: "null" }] } : converted);
  }

  #unite(some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
    if (some.size === 0) return others;
    return others.size === 0 ? some : new Set([...some, ...others]);
  }

  #convertKeywords(
    schema: Record<string, unknown>,
    { chain, depth, marked }: Pick<PendingSchema, "chain" | "depth" | "marked">,
    children: PendingSchema[],
  ): JsonSchema {
    const add = (source: unknown, isSamePlace = false): JsonSchema => {
      const target: JsonSchema = {};
      children.push({ source, target, chain, depth: depth + 1, marked: isSamePlace ? marked : new Set() });
      return target;
    };
    const entries: [string, unknown][] = [];
    for (const [key, value] of Object.entries(schema)) {
      const converted = this.#convertKeyword(key, value, { add, marked });
      if (converted !== undefined) entries.push([key, converted]);
    }
    const result: JsonSchema = Object.fromEntries(entries);
    convertExclusiveBound(result, "minimum", "exclusiveMinimum");
    convertExclusiveBound(result, "maximum", "exclusiveMaximum");
    return result;
  }

  /** @returns `undefined` for a keyword that is left out */
  #convertKeyword(
    key: string,
    value: unknown,
    { add, marked }: { add: (source: unknown, isSamePlace?: boolean) => JsonSchema; marked: ReadonlySet<string> },
  ): unknown {
    if (SCHEMA_KEYWORDS.has(key)) {
      if (typeof value === "boolean") return value;
      return isRecord(value) ? add(value, key === "if" || key === "then" || key === "else") : undefined;
    }
    if (LIST_KEYWORDS.has(key)) {
      if (!Array.isArray(value) || value.length === 0) return undefined;
      return value.map((item) => add(item, key !== "prefixItems"));
    }
    if (MAP_KEYWORDS.has(key)) {
      if (!isRecord(value)) return undefined;
      const kept = Object.entries(value).filter(([name]) => key !== "properties" || !marked.has(name));
      return Object.fromEntries(kept.map(([name, inner]) => [name, add(inner)]));
    }
    if (key === "required") {
      // In older dialects a property says by a boolean that it is required.
      if (!Array.isArray(value)) return undefined;
      const names = value.filter((name) => typeof name === "string" && !marked.has(name));
      return names.length === 0 ? undefined : names;
    }
    return convertPlainKeyword(key, value);
  }

  /** The names of the properties that a schema, or a part of its `allOf`, marks. */
  #findMarked(schema: Record<string, unknown>, chain: readonly string[], level: number): ReadonlySet<string> {
    const names = new Set<string>();
    if (level > MAX_DEPTH) return names;
    const { properties, allOf } = schema;
    if (isRecord(properties))
      for (const [name, value] of Object.entries(properties)) if (this.#isMarked(value, chain, 0)) names.add(name);
    for (const part of Array.isArray(allOf) ? allOf : []) {
      const inner = this.#lookUp(part, chain);
      if (inner !== null) for (const name of this.#findMarked(inner.value, inner.chain, level + 1)) names.add(name);
    }
    return names;
  }

  #isMarked(source: unknown, chain: readonly string[], level: number): boolean {
    if (!isRecord(source)) return false;
    const cache = this.#references.marked[this.#marker];
    const known = cache.get(source);
    if (known !== undefined) return known;
    const isMarked = this.#searchMarker(source, chain, level);
    cache.set(source, isMarked);
    return isMarked;
  }

  #searchMarker(source: unknown, chain: readonly string[], level: number): boolean {
    const found = this.#lookUp(source, chain);
    if (found === null || level > MAX_DEPTH) return false;
    const { value } = found;
    if (value[this.#marker] === true) return true;
    const parts = Array.isArray(value["allOf"]) ? value["allOf"] : [];
    return parts.some((part) => this.#isMarked(part, found.chain, level + 1));
  }

  #lookUp(
    source: unknown,
    chain: readonly string[],
  ): { value: Record<string, unknown>; chain: readonly string[] } | null {
    if (++this.#lookups > MAX_MARKED_LOOKUPS) return null;
    const { value, chain: followed } = this.#references.follow(source, mergeSchemas, chain);
    return isRecord(value) ? { value, chain: followed } : null;
  }
}

function addType(target: JsonSchema, type: unknown): void {
  const converted = type === undefined ? undefined : convertType(type);
  if (converted !== undefined) target["type"] = converted;
}

function convertPlainKeyword(key: string, value: unknown): unknown {
  if (!PLAIN_KEYWORDS.has(key)) return undefined;
  const mayBeNull = key === "default" || key === "const";
  // A key of YAML without a value.
  if (!isSmall(value) || (value === null && !mayBeNull)) return undefined;
  switch (key) {
    case "type":
      return convertType(value);
    case "enum":
      return Array.isArray(value) && value.length > 0 ? value : undefined;
    case "examples":
      return JSON.stringify(value).length > MAX_EXAMPLES_BYTES ? undefined : value;
    case "description":
      return typeof value === "string" ? shorten(value) : undefined;
    default:
      return value;
  }
}

/** A value of YAML can contain itself, or one value many times. */
function isSmall(value: unknown): boolean {
  let nodes = 0;
  const pending: { node: unknown; depth: number }[] = [{ node: value, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, depth } = next;
    if (++nodes > MAX_VALUE_NODES || depth > MAX_VALUE_DEPTH) return false;
    if (typeof node === "object" && node !== null)
      for (const inner of Object.values(node)) pending.push({ node: inner, depth: depth + 1 });
  }
  return true;
}

/** An unquoted `null` of YAML is not a text. Types that JSON Schema does not have, such as `file`, are left out. */
function convertType(value: unknown): unknown {
  const types = (Array.isArray(value) ? value : [value]).map((type) => (type === null ? "null" : type));
  const known = types.filter((type) => TYPES.has(type));
  if (known.length === 0) return undefined;
  return Array.isArray(value) ? known : known[0];
}

function shorten(text: string): string {
  if (text.length <= MAX_DESCRIPTION_CHARACTERS) return text;
  return `${text.slice(0, MAX_DESCRIPTION_CHARACTERS).toWellFormed()}…`;
}

/** OpenAPI 3.0 marks a bound as exclusive by a boolean. In JSON Schema the exclusive keyword holds the bound itself. */
function convertExclusiveBound(schema: JsonSchema, bound: string, exclusiveBound: string): void {
  if (typeof schema[exclusiveBound] !== "boolean") return;
  if (schema[exclusiveBound] && typeof schema[bound] === "number") {
    schema[exclusiveBound] = schema[bound];
    delete schema[bound];
  } else {
    delete schema[exclusiveBound];
  }
}

function estimateBytes(converted: JsonSchema, children: number): number {
  return Buffer.byteLength(JSON.stringify(converted)) + children * STUB_BYTES;
}
