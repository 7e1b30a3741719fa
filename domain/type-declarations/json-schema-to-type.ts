import { JS_TYPE_KEYWORD, type JsonSchema } from "../ports/procedure-discovery.ts";
import { isRecord, resolvePointer } from "../shared/json.ts";
import { literalsToType } from "./literal-type.ts";
import {
  arrayOf,
  intersectionOf,
  NEVER,
  NULL,
  simpleType,
  type TypeExpression,
  unionOf,
  UNKNOWN,
} from "./type-expression.ts";
import { formatBlock, formatPropertyName, quote } from "./typescript-syntax.ts";

/** The bounds on the type of a schema. Everything beyond a bound becomes `unknown`. */
export interface TypeBounds {
  /** Characters of names, strings and types, approximately. */
  characters: number;
  /** Levels of nested schemas. */
  depth: number;
  /** Properties of one object. */
  properties: number;
  /** Whether descriptions of properties become comments, and long types span several lines. */
  comments: boolean;
}

/** Declares named types, which recursive schemas need. */
export interface TypeNames {
  next(): string;
  declare(name: string, type: string): void;
}

/**
 * Converts a JSON Schema to a TypeScript type. What TypeScript cannot express becomes `unknown`, so the type may accept
 * more than the schema. The schema is untrusted: its text appears only inside quotation marks, in literals, names and
 * comments.
 *
 * @param names - `null` when no type can be declared; a recursive schema is then `unknown` where it repeats
 */
export function jsonSchemaToType(schema: JsonSchema, bounds: TypeBounds, names: TypeNames | null): string {
  return new SchemaConverter(schema, bounds, names).convert().text;
}

/** Properties with longer names are left out, and longer descriptions are cut. In characters. */
const MAX_NAME = 200;
const MAX_DESCRIPTION = 200;
const MAX_TUPLE_ITEMS = 16;
/** The characters that every schema costs, in addition to its text. */
const SCHEMA_COST = 8;

const ANY_OBJECT = "{ [key: string]: unknown }";
const EMPTY_OBJECT = "{ [key: string]: never }";

/** A schema that is being converted. A reference to it makes the type recursive. */
interface OpenSchema {
  target: JsonSchema;
  /** How many objects and arrays surround the schema. */
  nesting: number;
  /** The name of the type, once a reference needs one. */
  name: string | null;
}

class SchemaConverter {
  readonly #root: JsonSchema;
  readonly #bounds: TypeBounds;
  readonly #names: TypeNames | null;
  readonly #openSchemas: OpenSchema[] = [];
  readonly #typeBySchema = new Map<JsonSchema, TypeExpression>();
  #remainingCharacters: number;
  #depth = 0;
  #nesting = 0;

  constructor(root: JsonSchema, bounds: TypeBounds, names: TypeNames | null) {
    this.#root = root;
    this.#bounds = bounds;
    this.#names = names;
    this.#remainingCharacters = bounds.characters;
  }

  convert(): TypeExpression {
    return this.#convertTarget(this.#root);
  }

  #convertSchema(schema: unknown): TypeExpression {
    if (schema === false) return NEVER;
    if (!isRecord(schema) || this.#depth === this.#bounds.depth || !this.#spend(SCHEMA_COST)) return UNKNOWN;
    this.#depth += 1;
    const parts = [...this.#convertComposition(schema), this.#convertOwnKeywords(schema)];
    this.#depth -= 1;
    // In an intersection with a more specific part, these types add nothing, or forbid its properties.
    const specific = parts.filter(({ text }) => ![ANY_OBJECT, EMPTY_OBJECT, UNKNOWN.text].includes(text));
    const type = intersectionOf(specific.length > 0 ? specific : parts);
    return schema["nullable"] === true ? unionOf([type, NULL]) : type;
  }

  #convertComposition({ $ref, allOf, anyOf, oneOf }: JsonSchema): TypeExpression[] {
    const target = typeof $ref === "string" ? resolvePointer(this.#root, $ref) : undefined;
    const choices = [anyOf, oneOf].filter((each) => Array.isArray(each));
    return [
      ...(isRecord(target) ? [this.#convertTarget(target)] : []),
      ...toArray(allOf).map((part) => this.#convertSchema(part)),
      ...choices.map((choice) => unionOf(choice.map((option) => this.#convertSchema(option)))),
    ];
  }

  /** Converts the target of a reference. TypeScript allows a type to name itself only inside an object or an array. */
  #convertTarget(target: JsonSchema): TypeExpression {
    const converted = this.#typeBySchema.get(target);
    if (converted !== undefined) return converted;
    const open = this.#openSchemas.find((schema) => schema.target === target);
    if (open !== undefined) {
      if (this.#names === null || this.#nesting === open.nesting) return UNKNOWN;
      return simpleType((open.name ??= this.#names.next()));
    }
    const opened: OpenSchema = { target, nesting: this.#nesting, name: null };
    this.#openSchemas.push(opened);
    const type = this.#convertSchema(target);
    this.#openSchemas.pop();
    if (opened.name === null) return type;
    this.#names?.declare(opened.name, type.text);
    const named = simpleType(opened.name);
    this.#typeBySchema.set(target, named);
    return named;
  }

  #convertOwnKeywords(schema: JsonSchema): TypeExpression {
    const jsType = this.#convertJsType(schema);
    if (jsType !== null) return jsType;
    if (Object.hasOwn(schema, "const")) return this.#convertLiterals([schema["const"]]);
    if (Array.isArray(schema["enum"])) return this.#convertLiterals(schema["enum"]);
    const types = inferTypes(schema);
    return types.length === 0 ? UNKNOWN : unionOf(types.map((type) => this.#convertType(type, schema)));
  }

  /** Converts the schema of a value that is not JSON; `null` for any other schema. */
  #convertJsType(schema: JsonSchema): TypeExpression | null {
    const convertItems = (items: unknown) => this.#nest(() => this.#convertSchema(items)).text;
    const { items, [JS_TYPE_KEYWORD]: jsType } = schema;
    if (jsType === "Date" || jsType === "bigint") return simpleType(jsType);
    if (jsType === "Set") return simpleType(`Set<${convertItems(items)}>`);
    if (jsType !== "Map") return null;
    const [key, value] =
      isRecord(items) && Array.isArray(items["prefixItems"]) ? (items["prefixItems"] as unknown[]) : [];
    return simpleType(`Map<${convertItems(key)}, ${convertItems(value)}>`);
  }

  #convertLiterals(values: readonly unknown[]): TypeExpression {
    const type = literalsToType(values);
    return this.#spend(type.text.length) ? type : UNKNOWN;
  }

  #convertType(type: unknown, schema: JsonSchema): TypeExpression {
    switch (type) {
      case "string":
      case "number":
      case "boolean":
      case "null":
        return simpleType(type);
      case "integer":
        return simpleType("number");
      case "array":
        return this.#nest(() => this.#convertArray(schema));
      case "object":
        return this.#nest(() => this.#convertObject(schema));
      default:
        return UNKNOWN;
    }
  }

  #nest(convert: () => TypeExpression): TypeExpression {
    this.#nesting += 1;
    const type = convert();
    this.#nesting -= 1;
    return type;
  }

  /** Before JSON Schema 2020-12, `items` and `additionalItems` described tuples. */
  #convertArray({ prefixItems, items, additionalItems, minItems }: JsonSchema): TypeExpression {
    const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : null;
    if (tuple === null) return arrayOf(this.#convertSchema(items));
    if (tuple.length > MAX_TUPLE_ITEMS) return arrayOf(UNKNOWN);
    const rest = tuple === items ? additionalItems : items;
    const requiredItems = typeof minItems === "number" ? minItems : tuple.length;
    const types = tuple.map((item, at) => formatTupleItem(this.#convertSchema(item), at >= requiredItems));
    const restTypes = rest === undefined || rest === false ? [] : [`...${arrayOf(this.#convertSchema(rest)).text}`];
    return simpleType(`[${[...types, ...restTypes].join(", ")}]`);
  }

  #convertObject(schema: JsonSchema): TypeExpression {
    const required = new Set(toArray(schema["required"]).filter((name) => typeof name === "string"));
    const described = isRecord(schema["properties"]) ? schema["properties"] : {};
    const undescribed = [...required].filter((name) => !Object.hasOwn(described, name));
    const all = [
      ...Object.entries(described),
      ...undescribed.map((name) => [name, schema["additionalProperties"]] as const),
    ];
    const members: string[] = [];
    for (const [name, property] of all.slice(0, this.#bounds.properties)) {
      if (this.#remainingCharacters <= 0) break;
      const comment = this.#formatComment(property);
      if (name.length > MAX_NAME || !this.#spend(name.length + comment.length)) continue;
      const optional = required.has(name) ? "" : "?";
      members.push(`${comment}${formatPropertyName(name)}${optional}: ${this.#convertSchema(property).text}`);
    }
    const index = this.#formatIndex(schema, members.length, all.length - members.length);
    return simpleType(formatBlock([...members, ...index], !this.#bounds.comments));
  }

  /** Describes properties without a name. Beside named properties, TypeScript allows only `unknown` for them. */
  #formatIndex({ additionalProperties, patternProperties }: JsonSchema, named: number, leftOut: number): string[] {
    if (leftOut > 0) return [`/* ${leftOut} more */ [key: string]: unknown`];
    const patterns = isRecord(patternProperties) ? Object.values(patternProperties) : [];
    const schemas = [...patterns, additionalProperties].filter((schema) => schema !== undefined);
    const allowed = schemas.filter((schema) => schema !== false);
    if (named > 0) return allowed.length > 0 ? ["[key: string]: unknown"] : [];
    if (allowed.length === 0) return [`[key: string]: ${schemas.length > 0 ? "never" : "unknown"}`];
    return [`[key: string]: ${unionOf(allowed.map((schema) => this.#convertSchema(schema))).text}`];
  }

  #formatComment(property: unknown): string {
    if (!this.#bounds.comments || !isRecord(property)) return "";
    const { description, format } = property;
    const shownFormat = typeof format === "string" && format.length > MAX_NAME ? "" : format;
    const texts = [description, shownFormat].filter((text) => typeof text === "string" && text !== "") as string[];
    if (texts.length === 0) return "";
    return `/** ${texts.map((text) => quote(text.slice(0, MAX_DESCRIPTION))).join(", ")} */ `;
  }

  /** @returns whether the characters were within the bound */
  #spend(characters: number): boolean {
    this.#remainingCharacters -= characters;
    return this.#remainingCharacters >= 0;
  }
}

function formatTupleItem(type: TypeExpression, isOptional: boolean): string {
  if (!isOptional) return type.text;
  return type.isCompound ? `(${type.text})?` : `${type.text}?`;
}

/** Returns the types in `type`, or the type that the other keywords imply. */
function inferTypes(schema: JsonSchema): unknown[] {
  const { type, properties, additionalProperties, patternProperties, items, prefixItems } = schema;
  if (type !== undefined) return [type].flat();
  if ([properties, additionalProperties, patternProperties].some(isRecord)) return ["object"];
  return items === undefined && prefixItems === undefined ? [] : ["array"];
}

function toArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
