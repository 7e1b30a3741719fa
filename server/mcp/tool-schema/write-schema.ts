import type { JsonSchema } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { truncateText } from "../../../domain/shared/response-budget.ts";
import { jsonSchemaToType, type TypeBounds } from "../../../domain/type-declarations/json-schema-to-type.ts";
import { quote } from "../../../domain/type-declarations/typescript-syntax.ts";
import { namePortably } from "./property-names.ts";
import {
  ANY_VALUE,
  isAnything,
  type Literal,
  type TypeRules,
  type ValueRules,
  VALUE_TYPES,
  type ValueType,
} from "./value-rules.ts";

/** In characters. Longer texts are cut, longer types and values left out. */
const MAX_DESCRIPTION = 600;
const MAX_VALUE = 200;
const TYPE_BOUNDS: TypeBounds = { characters: 600, depth: 5, properties: 20, comments: false };
const MAX_ENUM_VALUES = 100;

const TYPES_OF_ANYTHING: readonly JsonSchema[] = [
  { type: "string" },
  { type: "number" },
  { type: "boolean" },
  { type: "object" },
  { type: "null" },
];
const ANYTHING = { anyOf: [...TYPES_OF_ANYTHING, { type: "array", items: { anyOf: TYPES_OF_ANYTHING } }] };

/**
 * Writes the rules of a schema with the keywords that every model API accepts: `type` with one name, `description`,
 * `properties`, `required`, `items`, `enum` of texts, `anyOf`, and the format `date-time`. Descriptions say everything else.
 *
 * @param root - the whole schema, whose definitions the exact schemas of objects and lists use
 */
export class SchemaWriter {
  readonly #root: JsonSchema;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /** @param note - says more than the description of the schema */
  write(rules: ValueRules, note = ""): JsonSchema {
    const { description, defaultValue, types } = rules;
    const notes = [note, ...describeDefault(defaultValue)];
    if (types.size === 0 || isAnything(rules)) return describe(ANYTHING, description, notes);
    const written = VALUE_TYPES.flatMap((type) => {
      const own = types.get(type);
      return own === undefined ? [] : [this.#writeType(type, own)];
    });
    const [{ schema, notes: ownNotes }, ...others] = written as [WrittenType, ...WrittenType[]];
    if (others.length === 0) return describe(schema, description, [...ownNotes, ...notes]);
    const [first, ...rest] = written.map((each) => describe(each.schema, "", each.notes));
    // Beside `anyOf`, some APIs accept no description.
    const described = { ...first, ...describe({}, description, [...ownNotes, ...notes]) };
    return { anyOf: [described, ...rest] };
  }

  /** Writes the properties of an object under names that every model API accepts. */
  writeProperties({ properties, required }: TypeRules): JsonSchema {
    const names = namePortably(properties.keys());
    const written = [...properties].map(([name, rules]) => {
      const portable = names.get(name) ?? name;
      return [portable, this.write(rules, portable === name ? "" : `sent as ${quote(name)}`)] as const;
    });
    const requiredNames = [...required].flatMap((name) => names.get(name) ?? []);
    return { properties: Object.fromEntries(written), ...(requiredNames.length > 0 && { required: requiredNames }) };
  }

  /** Writes a schema as a TypeScript type; nothing when the type would be long or says nothing. */
  writeType(schema: JsonSchema): string | null {
    const { $defs, definitions } = this.#root;
    const type = jsonSchemaToType({ $defs, definitions, ...schema }, TYPE_BOUNDS, null);
    return type.length > TYPE_BOUNDS.characters * 2 || type === "unknown" ? null : type;
  }

  #writeType(type: ValueType, rules: TypeRules): WrittenType {
    const exactType = rules.exact === null ? null : this.writeType(rules.exact);
    const notes = exactType === null ? describeBounds(rules.bounds) : [exactType];
    switch (type) {
      case "object":
        return { schema: { type, ...(rules.properties.size > 0 && this.writeProperties(rules)) }, notes };
      case "array":
        return { schema: { type, items: this.write(rules.items ?? ANY_VALUE) }, notes };
      case "string":
        return writeTexts(rules, notes);
      case "number":
        return { schema: { type: isInteger(rules) ? "integer" : type }, notes: [...describeValues(rules), ...notes] };
      default:
        return { schema: { type }, notes: [...describeValues(rules), ...notes] };
    }
  }
}

interface WrittenType {
  schema: JsonSchema;
  notes: string[];
}

function isInteger({ bounds, values }: TypeRules): boolean {
  return bounds["isInteger"] === true || values?.every((value) => Number.isInteger(value)) === true;
}

/** Some APIs refuse an enum with an empty text. */
function writeTexts(rules: TypeRules, notes: string[]): WrittenType {
  const { values, bounds } = rules;
  const isListed = values !== null && values.length > 0 && values.length <= MAX_ENUM_VALUES && values.every(isListable);
  if (isListed) return { schema: { type: "string", enum: values }, notes };
  const format = bounds["format"] === "date-time" ? { format: "date-time" } : {};
  return { schema: { type: "string", ...format }, notes: [...describeValues(rules), ...notes] };
}

function isListable(value: Literal): boolean {
  return typeof value === "string" && value !== "" && value.length <= MAX_VALUE;
}

function describeValues({ values }: TypeRules): string[] {
  if (values === null || values.every((value) => value === null)) return [];
  const shown = values.filter((value) => String(value).length <= MAX_VALUE).slice(0, MAX_ENUM_VALUES);
  const more = values.length > shown.length ? ` or ${values.length - shown.length} other values` : "";
  return [`one of ${shown.map((value) => JSON.stringify(value)).join(", ")}${more}`];
}

/** Bounds as zod writes them for an integer: every number of JavaScript that is exact. */
const isExtreme = (value: unknown): boolean => typeof value === "number" && Math.abs(value) >= Number.MAX_SAFE_INTEGER;

const BOUND_TEXTS: Readonly<Record<string, string>> = {
  minLength: "min length",
  maxLength: "max length",
  format: "format",
  pattern: "pattern",
  minimum: "min",
  maximum: "max",
  exclusiveMinimum: "more than",
  exclusiveMaximum: "less than",
  multipleOf: "multiple of",
  minItems: "min items",
  maxItems: "max items",
  minProperties: "min properties",
  maxProperties: "max properties",
};

function describeBounds(bounds: TypeRules["bounds"]): string[] {
  return Object.entries(bounds).flatMap(([name, value]) => {
    if (name === "uniqueItems") return value === true ? ["unique items"] : [];
    // A format says more than the pattern that validates it.
    if (name === "format" && value === "date-time") return [];
    if (name === "pattern" && bounds["format"] !== undefined) return [];
    const text = BOUND_TEXTS[name];
    const isShown =
      ["string", "number"].includes(typeof value) && String(value).length <= MAX_VALUE && !isExtreme(value);
    return text !== undefined && isShown ? [`${text} ${String(value)}`] : [];
  });
}

function describeDefault(value: unknown): string[] {
  if (value === undefined) return [];
  const json = JSON.stringify(value);
  return json === undefined || json.length > MAX_VALUE ? [] : [`default ${json}`];
}

/** Adds the description and the notes, in which everything stands that has no keyword. */
function describe(schema: JsonSchema, description: string, notes: readonly string[]): JsonSchema {
  const known = notes.filter((note) => note !== "");
  const noted = known.length === 0 ? "" : `(${known.join("; ")})`;
  const text = [truncateText(description.trim(), MAX_DESCRIPTION), noted].filter((part) => part !== "").join(" ");
  if (text === "") return schema;
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return { ...schema, description: text };
  const [first, ...others] = anyOf as unknown[];
  return { anyOf: [{ ...(isRecord(first) ? first : {}), description: text }, ...others] };
}
