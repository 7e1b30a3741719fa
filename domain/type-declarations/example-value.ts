import { JS_TYPE_KEYWORD, type JsonSchema } from "../ports/procedure-discovery.ts";
import { isRecord, resolvePointer } from "../shared/json.ts";

/** Levels of nested schemas. */
const MAX_DEPTH = 6;
/** Schemas in one example. */
const MAX_SCHEMAS = 60;
const MAX_ITEMS = 3;
/** In characters. */
const MAX_STRING = 100;
/** The longest value that a schema itself gives, in characters of JSON. */
const MAX_GIVEN = 200;

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: "2026-12-24",
  "date-time": "2026-12-24T12:00:00Z",
  time: "12:00:00Z",
  duration: "P1D",
  email: "ada@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e",
};

/**
 * Creates a value that matches a JSON Schema, of an object with the required properties only. It uses the values that the schema gives
 * (`const`, `examples`, `example`, `default`, `enum`). It ignores `pattern`: the schema is untrusted, and an expression can
 * take forever. What exceeds the bounds of an example becomes `null`.
 */
export function createExample(schema: JsonSchema): unknown {
  const example = new ExampleWriter(schema).create(schema, "text", 0);
  return acceptsAnyObject(schema) && !isRecord(example) ? {} : example;
}

/** A schema that says nothing about the type of the value is that of an object, as nearly all inputs are. */
function acceptsAnyObject(schema: JsonSchema): boolean {
  return ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"].every((keyword) => schema[keyword] === undefined);
}

class ExampleWriter {
  readonly #root: JsonSchema;
  #remainingSchemas = MAX_SCHEMAS;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /** @param name - the name of the property, which is the text of a string without other hints */
  create(schema: unknown, name: string, depth: number): unknown {
    const value = this.#createTyped(schema, name, depth);
    return value === undefined ? name : value;
  }

  /** Returns `undefined` for a schema that says nothing about the type of the value. */
  #createTyped(schema: unknown, name: string, depth: number): unknown {
    if (depth > MAX_DEPTH || --this.#remainingSchemas < 0) return null;
    if (!isRecord(schema)) return undefined;
    const jsValue = this.#createJsValue(schema, name, depth);
    if (jsValue !== undefined) return jsValue;
    const given = findGiven(schema);
    if (given !== undefined) return given;
    const own = this.#createOwn(schema, name, depth);
    const parts = this.#listParts(schema).map((part) => this.#createTyped(part, name, depth + 1));
    const values = [...parts, own].filter((value) => value !== undefined && value !== null);
    if (values.length > 1 && values.every(isRecord)) return Object.assign({}, ...values) as object;
    return values[0] ?? (hasType(schema) || parts.includes(null) ? null : undefined);
  }

  /** Returns `undefined` for a schema of JSON. */
  #createJsValue({ items, [JS_TYPE_KEYWORD]: jsType }: JsonSchema, name: string, depth: number): unknown {
    if (jsType === "Date") return new Date(BY_FORMAT["date-time"] ?? 0);
    if (jsType === "bigint") return 1n;
    if (jsType === "Set") return new Set([this.create(items, name, depth + 1)]);
    if (jsType !== "Map") return undefined;
    const pair = this.create(items, name, depth + 1);
    return new Map(Array.isArray(pair) ? [pair as [unknown, unknown]] : []);
  }

  /** The schemas that the value must match too. Of alternatives, the first one that is more than `null`. */
  #listParts({ $ref, allOf, anyOf, oneOf, properties }: JsonSchema): JsonSchema[] {
    const target = typeof $ref === "string" ? resolvePointer(this.#root, $ref) : undefined;
    const choices = [anyOf, oneOf].filter((options) => Array.isArray(options));
    const chosen = choices.map(
      (options: unknown[]) => options.find((option) => !isRecord(option) || option["type"] !== "null") ?? options[0],
    );
    const parts = [target, ...(Array.isArray(allOf) ? (allOf as unknown[]) : []), ...chosen].filter(isRecord);
    // A part may only require properties that the schema around it describes.
    return parts.map((part) => (isRecord(properties) ? { properties, ...part } : part));
  }

  /** Returns `undefined` for a schema that says nothing about the type of the value. */
  #createOwn(schema: JsonSchema, name: string, depth: number): unknown {
    switch (readType(schema)) {
      case "string":
        return createString(schema, name);
      case "integer":
      case "number":
        return createNumber(schema);
      case "boolean":
        return true;
      case "array":
        return this.#createArray(schema, name, depth);
      case "object":
        return this.#createObject(schema, depth);
      case "null":
        return null;
      default:
        return undefined;
    }
  }

  /** Before JSON Schema 2020-12, `items` described tuples. */
  #createArray({ prefixItems, items, minItems, maxItems }: JsonSchema, name: string, depth: number): unknown[] {
    const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const wanted = Math.max(tuple.length, toNumber(minItems) ?? 1, 1);
    const length = Math.min(wanted, toNumber(maxItems) ?? wanted, Math.max(tuple.length, MAX_ITEMS));
    const rest = Array.isArray(items) ? {} : items;
    return Array.from({ length }, (_, at) => this.create(tuple[at] ?? rest ?? {}, name, depth + 1));
  }

  #createObject({ required, properties }: JsonSchema, depth: number): Record<string, unknown> {
    const described = isRecord(properties) ? properties : {};
    const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
    return Object.fromEntries(
      names.map((name) => [name, this.create(Object.hasOwn(described, name) ? described[name] : {}, name, depth + 1)]),
    );
  }
}

/** Returns the value that a schema gives itself; `undefined` when it gives none, or only a long one. */
function findGiven(schema: JsonSchema): unknown {
  const [example] = Array.isArray(schema["examples"]) ? (schema["examples"] as unknown[]) : [];
  const [member] = Array.isArray(schema["enum"]) ? (schema["enum"] as unknown[]) : [];
  return [schema["const"], example, schema["example"], schema["default"], member].find(
    (value) => value !== undefined && JSON.stringify(value).length <= MAX_GIVEN,
  );
}

function hasType(schema: JsonSchema): boolean {
  return readType(schema) !== undefined;
}

/** The type of a schema, or the type that its other keywords imply. Of several types, the first one. */
function readType({ type, properties, required, items, prefixItems }: JsonSchema): unknown {
  if (Array.isArray(type)) return type.find((each) => each !== "null") ?? type[0];
  if (type !== undefined) return type;
  if (isRecord(properties) || Array.isArray(required)) return "object";
  return items === undefined && prefixItems === undefined ? undefined : "array";
}

function createString({ format, minLength, maxLength }: JsonSchema, name: string): string {
  const formatted = typeof format === "string" && Object.hasOwn(BY_FORMAT, format) ? BY_FORMAT[format] : undefined;
  if (formatted !== undefined) return formatted;
  const length = Math.min(toNumber(maxLength) ?? MAX_STRING, MAX_STRING);
  return name.padEnd(Math.min(toNumber(minLength) ?? 0, MAX_STRING), "x").slice(0, length);
}

function createNumber(schema: JsonSchema): number {
  const lowest = toNumber(schema["minimum"]) ?? -Infinity;
  const above = toNumber(schema["exclusiveMinimum"]) ?? -Infinity;
  const highest = toNumber(schema["maximum"]) ?? Infinity;
  const below = toNumber(schema["exclusiveMaximum"]) ?? Infinity;
  const step = toNumber(schema["multipleOf"]) ?? (readType(schema) === "integer" ? 1 : 0);
  const isValid = (value: number) =>
    value >= lowest && value > above && value <= highest && value < below && (step <= 0 || value % step === 0);
  const [start, end] = [Math.max(lowest, above), Math.min(highest, below)];
  const ends = [start, end, start + 1, end - 1, (start + end) / 2];
  const multiples = [step, (Math.floor(start / step) + 1) * step, (Math.ceil(end / step) - 1) * step];
  return [1, ...ends, ...multiples].find(isValid) ?? 1;
}

function toNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
