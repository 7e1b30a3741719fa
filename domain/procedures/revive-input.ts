import { DISCOVERY_CAPS, JS_TYPE_KEYWORD, type JsonSchema, type JsType } from "../ports/procedure-discovery.ts";
import { isRecord, resolvePointer } from "../shared/json.ts";

/** Values that are visited. What comes after them stays as it is. */
const MAX_VALUES = 100_000;
/** Schemas that one value is compared with: a schema may consist of many alternatives. */
const MAX_SCHEMAS = 100;

/**
 * Converts what JSON cannot express to the types that the schema of a procedure asks for (`JS_TYPE_KEYWORD`): texts to dates
 * and bigints, lists to sets and maps. What does not fit stays as it is, and the app rejects it.
 */
export function reviveInput(input: unknown, schema: JsonSchema): unknown {
  return new Reviver(schema).revive(input, [schema], 0);
}

class Reviver {
  readonly #root: JsonSchema;
  #remainingValues = MAX_VALUES;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  revive(value: unknown, schemas: readonly unknown[], depth: number): unknown {
    if (depth > DISCOVERY_CAPS.schemaDepth || --this.#remainingValues < 0) return value;
    const candidates = this.#listCandidates(schemas);
    const types = candidates.map((schema) => schema[JS_TYPE_KEYWORD] as JsType | undefined);
    if (typeof value === "string" || typeof value === "number") {
      const acceptsItself = candidates.some((schema, at) => types[at] === undefined && acceptsScalar(schema, value));
      return acceptsItself ? value : reviveScalar(value, types);
    }
    if (Array.isArray(value)) return this.#reviveList(value, candidates, depth);
    return isPlainObject(value) ? this.#reviveObject(value, candidates, depth) : value;
  }

  /** The schemas that a value can match: alternatives, and the targets of references. */
  #listCandidates(schemas: readonly unknown[]): JsonSchema[] {
    const found = new Set(schemas.filter(isRecord));
    // A set also visits what is added to it meanwhile.
    for (const { $ref, allOf, anyOf, oneOf } of found) {
      const target = typeof $ref === "string" ? [resolvePointer(this.#root, $ref)] : [];
      const parts = [target, allOf, anyOf, oneOf].filter((part) => Array.isArray(part)).flat();
      for (const part of parts) if (isRecord(part) && found.size < MAX_SCHEMAS) found.add(part);
    }
    return [...found];
  }

  #reviveList(list: readonly unknown[], candidates: readonly JsonSchema[], depth: number): unknown {
    const itemSchemas = (at: number) =>
      candidates.map(({ items, prefixItems }) => (Array.isArray(prefixItems) ? (prefixItems[at] ?? items) : items));
    const items = list.map((item, at) => this.revive(item, itemSchemas(at), depth + 1));
    const types = candidates.map((schema) => schema[JS_TYPE_KEYWORD]);
    if (types.includes("Set")) return new Set(items);
    return types.includes("Map") && items.every(isPair) ? new Map(items) : items;
  }

  #reviveObject(value: Record<string, unknown>, candidates: readonly JsonSchema[], depth: number): unknown {
    const members = Object.entries(value).map(([name, member]) => {
      const schemas = candidates.map(({ properties, additionalProperties }) =>
        isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties,
      );
      return [name, this.revive(member, schemas, depth + 1)] as const;
    });
    const isMap = candidates.some((schema) => schema[JS_TYPE_KEYWORD] === "Map");
    return isMap ? new Map(members) : Object.fromEntries(members);
  }
}

function acceptsScalar({ type, enum: values, const: constant }: JsonSchema, value: unknown): boolean {
  if (constant === value || (Array.isArray(values) && values.includes(value))) return true;
  const names = typeof value === "string" ? ["string"] : ["number", "integer"];
  return [type].flat().some((name) => names.includes(String(name)));
}

function reviveScalar(value: string | number, types: readonly (JsType | undefined)[]): unknown {
  if (types.includes("bigint") && /^-?\d{1,1000}$/.test(String(value))) return BigInt(value);
  if (!types.includes("Date")) return value;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? value : date;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
}

function isPair(value: unknown): value is [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}
