import type { JsonSchema } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord, resolvePointer } from "../../../domain/shared/json.ts";
import {
  ANY_VALUE,
  intersect,
  type Literal,
  NO_RULES,
  type TypeRules,
  unite,
  VALUE_TYPES,
  type ValueRules,
  type ValueType,
} from "./value-rules.ts";

/** Schemas that are read. Everything after them counts as any value. */
const MAX_SCHEMAS = 3000;

/**
 * Reads what a schema means, without references and compositions. Objects and lists that are nested deeper than `maxDepth`, or
 * that contain themselves, have only a type.
 */
export function readSchema(schema: JsonSchema, maxDepth: number): ValueRules {
  return new SchemaReader(schema, maxDepth).read(schema, 0, []);
}

const BOUNDS: Readonly<Partial<Record<ValueType, readonly string[]>>> = {
  string: ["minLength", "maxLength", "format", "pattern"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  array: ["minItems", "maxItems", "uniqueItems"],
  object: ["minProperties", "maxProperties"],
};

class SchemaReader {
  readonly #root: JsonSchema;
  readonly #maxDepth: number;
  #remainingSchemas = MAX_SCHEMAS;

  constructor(root: JsonSchema, maxDepth: number) {
    this.#root = root;
    this.#maxDepth = maxDepth;
  }

  /** @param open - the targets of references that contain this schema */
  read(schema: unknown, depth: number, open: readonly unknown[]): ValueRules {
    if (schema === false) return { ...ANY_VALUE, types: new Map() };
    if (!isRecord(schema) || --this.#remainingSchemas < 0) return ANY_VALUE;
    const parts = [this.#readOwn(schema, depth, open), ...this.#readComposition(schema, depth, open)];
    return parts.reduce((all, part) => intersect(all, part));
  }

  #readComposition({ $ref, allOf, anyOf, oneOf }: JsonSchema, depth: number, open: readonly unknown[]): ValueRules[] {
    const target = typeof $ref === "string" ? resolvePointer(this.#root, $ref) : undefined;
    const parts = Array.isArray(allOf) ? (allOf as unknown[]) : [];
    const unions = [anyOf, oneOf].filter((options) => Array.isArray(options) && options.length > 0) as unknown[][];
    return [
      ...(target === undefined ? [] : [this.#readTarget(target, depth, open)]),
      ...parts.map((part) => this.read(part, depth, open)),
      ...unions.map((options) => this.#readUnion(options, depth, open)),
    ];
  }

  #readTarget(target: unknown, depth: number, open: readonly unknown[]): ValueRules {
    return open.includes(target) ? keepTypes(target) : this.read(target, depth, [...open, target]);
  }

  /** When several options have properties, only the exact schema says which of them belong together. */
  #readUnion(options: readonly unknown[], depth: number, open: readonly unknown[]): ValueRules {
    const read = options.map((option) => this.read(option, depth, open));
    const union = read.reduce((all, option) => unite(all, option));
    const withProperties = read.filter(({ types }) => (types.get("object")?.properties.size ?? 0) > 0);
    return withProperties.length > 1 ? withExact(union, "object", { anyOf: options }) : union;
  }

  #readOwn(schema: JsonSchema, depth: number, open: readonly unknown[]): ValueRules {
    const types = readTypes(schema).map(
      (type) => [type, { ...NO_RULES, ...this.#readRules(type, schema, depth, open) }] as const,
    );
    const { description, title, default: defaultValue } = schema;
    const text = [description, title].find((each) => typeof each === "string" && each !== "");
    return { description: typeof text === "string" ? text : "", defaultValue, types: new Map(types) };
  }

  #readRules(type: ValueType, schema: JsonSchema, depth: number, open: readonly unknown[]): Partial<TypeRules> {
    const values = readLiterals(schema)?.filter((value) => typeOf(value) === type) ?? null;
    const bounds = readBounds(type, schema);
    if (depth < this.#maxDepth && type === "object")
      return { values, bounds, ...this.#readObject(schema, depth, open) };
    if (depth < this.#maxDepth && type === "array") return { values, bounds, ...this.#readList(schema, depth, open) };
    return { values, bounds };
  }

  #readObject(
    { properties, required, additionalProperties, patternProperties }: JsonSchema,
    depth: number,
    open: readonly unknown[],
  ): Partial<TypeRules> {
    const described = isRecord(properties) ? Object.entries(properties) : [];
    const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
    const read = new Map(described.map(([name, property]) => [name, this.read(property, depth + 1, open)]));
    // A property that allows no value can only be left out.
    for (const [name, { types }] of read) if (types.size === 0) read.delete(name);
    for (const name of names) if (!read.has(name)) read.set(name, this.read(additionalProperties, depth + 1, open));
    const isMap = isRecord(additionalProperties) || isRecord(patternProperties);
    const exact = isMap && read.size === 0 ? { type: "object", additionalProperties, patternProperties } : null;
    return { properties: read, required: new Set(names), exact };
  }

  #readList({ items, prefixItems }: JsonSchema, depth: number, open: readonly unknown[]): Partial<TypeRules> {
    // Before JSON Schema 2020-12, `items` described tuples.
    const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const rest = items === undefined || items === false || Array.isArray(items) ? [] : [items];
    const read = [...tuple, ...rest].map((item) => this.read(item, depth + 1, open));
    if (read.length === 0) return {};
    const exact = tuple.length > 0 ? { type: "array", prefixItems: tuple, items: rest[0] ?? false } : null;
    return { items: read.reduce((all, item) => unite(all, item)), exact };
  }
}

/** Only the types of a schema. */
function keepTypes(schema: unknown): ValueRules {
  if (!isRecord(schema)) return ANY_VALUE;
  return { ...ANY_VALUE, types: new Map(readTypes(schema).map((type) => [type, NO_RULES])) };
}

/** The types in `type`, or those that the other keywords imply; all types when nothing is said. */
function readTypes(schema: JsonSchema): ValueType[] {
  const { type, properties, additionalProperties, patternProperties, items, prefixItems } = schema;
  const named = [type].flat().map((name) => (name === "integer" ? "number" : name));
  const known = VALUE_TYPES.filter((name) => named.includes(name));
  const nullable: ValueType[] = schema["nullable"] === true && !known.includes("null") ? ["null"] : [];
  if (known.length > 0) return [...known, ...nullable];
  const literals = readLiterals(schema);
  if (literals !== null) return VALUE_TYPES.filter((name) => literals.some((value) => typeOf(value) === name));
  if ([properties, additionalProperties, patternProperties].some(isRecord)) return ["object", ...nullable];
  return items !== undefined || prefixItems !== undefined ? ["array", ...nullable] : [...VALUE_TYPES];
}

/** The values of an enum or a constant; `null` when there are none, or when some are lists or objects. */
function readLiterals(schema: JsonSchema): Literal[] | null {
  const values = Object.hasOwn(schema, "const") ? [schema["const"]] : schema["enum"];
  if (!Array.isArray(values) || values.length === 0) return null;
  return values.every(isLiteral) ? values : null;
}

function isLiteral(value: unknown): value is Literal {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function typeOf(value: Literal): ValueType {
  return value === null ? "null" : (typeof value as ValueType);
}

function readBounds(type: ValueType, schema: JsonSchema): Record<string, unknown> {
  const named = (BOUNDS[type] ?? []).filter((name) => schema[name] !== undefined);
  const isInteger = type === "number" && [schema["type"]].flat().includes("integer");
  return { ...Object.fromEntries(named.map((name) => [name, schema[name]])), ...(isInteger && { isInteger }) };
}

function withExact(rules: ValueRules, type: ValueType, exact: JsonSchema): ValueRules {
  const types = new Map(rules.types);
  types.set(type, { ...(types.get(type) ?? NO_RULES), exact });
  return { ...rules, types };
}
