import type { JsonSchema } from "../ports/procedure-discovery.ts";
import { isRecord } from "../shared/json.ts";
import { literalsType } from "./literal-type.ts";
import { block, propertyName, quoted } from "./typescript-syntax.ts";
import { arrayOf, intersection, NEVER, NULL, simple, type Type, union, UNKNOWN } from "./type-expression.ts";

/** How much of a schema its type shows. What is beyond a bound is `unknown`. */
export interface TypeBounds {
  /** Of the names, texts and types in it, roughly. */
  characters: number;
  /** How deep schemas may be nested in each other. */
  depth: number;
  /** Of one object. */
  properties: number;
  /** Whether what the schema says of its properties is shown, and long types take several lines. */
  comments: boolean;
}

/** Declares types by names, which those need that refer to themselves. */
export interface TypeNames {
  next(): string;
  declare(name: string, type: string): void;
}

/**
 * The TypeScript type of what a JSON Schema describes, in terms of TypeScript as far as it has them: `unknown` is what it
 * has not, and what a program may pass or get besides is not ruled out. The schema is untrusted: what of its text is shown
 * is in quotation marks, in literals, names and comments.
 *
 * @param names - `null` where no type can be declared, and what refers to itself is `unknown` at that point
 */
export function schemaType(schema: JsonSchema, bounds: TypeBounds, names: TypeNames | null): string {
  return new SchemaReader(schema, bounds, names).read().text;
}

/** Longer names and descriptions are left out or cut, in characters. */
const LONGEST_NAME = 200;
const DESCRIPTION_SHOWN = 200;
const MOST_ELEMENTS = 16;
/** What a schema takes of the characters by itself. */
const LEAST = 8;

const ANY_OBJECT = "{ [key: string]: unknown }";
const EMPTY_OBJECT = "{ [key: string]: never }";

interface OpenReference {
  target: JsonSchema;
  /** How many objects and lists it is in. */
  nesting: number;
  name: string | null;
}

class SchemaReader {
  readonly #root: JsonSchema;
  readonly #bounds: TypeBounds;
  readonly #names: TypeNames | null;
  readonly #open: OpenReference[] = [];
  readonly #named = new Map<JsonSchema, Type>();
  #room: number;
  #depth = 0;
  #nesting = 0;

  constructor(root: JsonSchema, bounds: TypeBounds, names: TypeNames | null) {
    this.#root = root;
    this.#bounds = bounds;
    this.#names = names;
    this.#room = bounds.characters;
  }

  read(): Type {
    return this.#referred(this.#root);
  }

  #type(schema: unknown): Type {
    if (schema === false) return NEVER;
    if (!isRecord(schema) || this.#depth === this.#bounds.depth || !this.#takes(LEAST)) return UNKNOWN;
    this.#depth += 1;
    const parts = [...this.#composed(schema), this.#own(schema)];
    this.#depth -= 1;
    // Beside something that tells more, these would tell nothing, or what is wrong.
    const telling = parts.filter(({ text }) => ![ANY_OBJECT, EMPTY_OBJECT, UNKNOWN.text].includes(text));
    const type = intersection(telling.length > 0 ? telling : parts);
    return schema["nullable"] === true ? union([type, NULL]) : type;
  }

  #composed({ $ref, allOf, anyOf, oneOf }: JsonSchema): Type[] {
    const target = typeof $ref === "string" ? resolve(this.#root, $ref) : undefined;
    const choices = [anyOf, oneOf].filter((each) => Array.isArray(each));
    return [
      ...(isRecord(target) ? [this.#referred(target)] : []),
      ...listed(allOf).map((each) => this.#type(each)),
      ...choices.map((each) => union(each.map((choice) => this.#type(choice)))),
    ];
  }

  /** What a reference leads to. Only what is in an object or a list of itself can be named by a type. */
  #referred(target: JsonSchema): Type {
    const named = this.#named.get(target);
    if (named !== undefined) return named;
    const again = this.#open.find((each) => each.target === target);
    if (again !== undefined) {
      if (this.#names === null || this.#nesting === again.nesting) return UNKNOWN;
      return simple((again.name ??= this.#names.next()));
    }
    const reference: OpenReference = { target, nesting: this.#nesting, name: null };
    this.#open.push(reference);
    const type = this.#type(target);
    this.#open.pop();
    if (reference.name === null) return type;
    this.#names?.declare(reference.name, type.text);
    const byName = simple(reference.name);
    this.#named.set(target, byName);
    return byName;
  }

  #own(schema: JsonSchema): Type {
    if (Object.hasOwn(schema, "const")) return this.#literals([schema["const"]]);
    if (Array.isArray(schema["enum"])) return this.#literals(schema["enum"]);
    const types = typesIn(schema);
    return types.length === 0 ? UNKNOWN : union(types.map((type) => this.#ofType(type, schema)));
  }

  #literals(values: readonly unknown[]): Type {
    const type = literalsType(values);
    return this.#takes(type.text.length) ? type : UNKNOWN;
  }

  #ofType(type: unknown, schema: JsonSchema): Type {
    switch (type) {
      case "string":
      case "number":
      case "boolean":
      case "null":
        return simple(type);
      case "integer":
        return simple("number");
      case "array":
        return this.#inside(() => this.#array(schema));
      case "object":
        return this.#inside(() => this.#object(schema));
      default:
        return UNKNOWN;
    }
  }

  #inside(read: () => Type): Type {
    this.#nesting += 1;
    const type = read();
    this.#nesting -= 1;
    return type;
  }

  /** Before 2020-12, the types of a tuple's elements were `items`. */
  #array({ prefixItems, items, additionalItems, minItems }: JsonSchema): Type {
    const elements = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : null;
    if (elements === null) return arrayOf(this.#type(items));
    if (elements.length > MOST_ELEMENTS) return arrayOf(UNKNOWN);
    const rest = elements === items ? additionalItems : items;
    const needed = typeof minItems === "number" ? minItems : elements.length;
    const types = elements.map((each, at) => optionalElement(this.#type(each), at >= needed));
    const more = rest === undefined || rest === false ? [] : [`...${arrayOf(this.#type(rest)).text}`];
    return simple(`[${[...types, ...more].join(", ")}]`);
  }

  #object(schema: JsonSchema): Type {
    const required = new Set(listed(schema["required"]).filter((name) => typeof name === "string"));
    const known = isRecord(schema["properties"]) ? schema["properties"] : {};
    const others = [...required].filter((name) => !Object.hasOwn(known, name));
    const all = [...Object.entries(known), ...others.map((name) => [name, schema["additionalProperties"]] as const)];
    const members: string[] = [];
    for (const [name, property] of all.slice(0, this.#bounds.properties)) {
      if (this.#room <= 0) break;
      const comment = this.#comment(property);
      if (name.length > LONGEST_NAME || !this.#takes(name.length + comment.length)) continue;
      members.push(`${comment}${propertyName(name)}${required.has(name) ? "" : "?"}: ${this.#type(property).text}`);
    }
    const index = this.#index(schema, members.length, all.length - members.length);
    return simple(block([...members, ...index], !this.#bounds.comments));
  }

  /** The properties without a name of their own. Beside others, TypeScript has no type for them but `unknown`. */
  #index({ additionalProperties, patternProperties }: JsonSchema, named: number, leftOut: number): string[] {
    if (leftOut > 0) return [`/* ${leftOut} more */ [key: string]: unknown`];
    const patterns = isRecord(patternProperties) ? Object.values(patternProperties) : [];
    const said = [...patterns, additionalProperties].filter((each) => each !== undefined);
    const allowed = said.filter((each) => each !== false);
    if (named > 0) return allowed.length > 0 ? ["[key: string]: unknown"] : [];
    if (allowed.length === 0) return [`[key: string]: ${said.length > 0 ? "never" : "unknown"}`];
    return [`[key: string]: ${union(allowed.map((each) => this.#type(each))).text}`];
  }

  #comment(property: unknown): string {
    if (!this.#bounds.comments || !isRecord(property)) return "";
    const { description, format } = property;
    const said = [description, typeof format === "string" && format.length > LONGEST_NAME ? "" : format];
    const told = said.filter((each) => typeof each === "string" && each !== "") as string[];
    if (told.length === 0) return "";
    return `/** ${told.map((each) => quoted(each.slice(0, DESCRIPTION_SHOWN))).join(", ")} */ `;
  }

  #takes(characters: number): boolean {
    this.#room -= characters;
    return this.#room >= 0;
  }
}

function optionalElement(type: Type, isOptional: boolean): string {
  if (!isOptional) return type.text;
  return type.compound ? `(${type.text})?` : `${type.text}?`;
}

function typesIn({
  type,
  properties,
  additionalProperties,
  patternProperties,
  items,
  prefixItems,
}: JsonSchema): unknown[] {
  if (type !== undefined) return [type].flat();
  if ([properties, additionalProperties, patternProperties].some(isRecord)) return ["object"];
  return items === undefined && prefixItems === undefined ? [] : ["array"];
}

function listed(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Follows a JSON pointer within a schema, such as `#/$defs/Item`; `undefined` when it leads to nothing. */
function resolve(root: JsonSchema, reference: string): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  let at: unknown = root;
  for (const part of reference.split("/").slice(1)) {
    const key = decoded(part);
    if (typeof at !== "object" || at === null || key === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** `null` for what is no part of a pointer. */
function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return null;
  }
}
