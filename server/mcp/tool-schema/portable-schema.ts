import type { JsonSchema } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { namePortably } from "./property-names.ts";
import { readSchema } from "./read-schema.ts";
import { isAnything, NO_RULES, type TypeRules, type ValueRules } from "./value-rules.ts";
import { SchemaWriter } from "./write-schema.ts";

/** The input of a procedure as a tool. */
export interface PortableInput {
  /** An object at the root, with the keywords of `SchemaWriter`. */
  schema: JsonSchema;
  /** The alternatives of the input as a TypeScript type; `null` when there is one form only. */
  alternatives: string | null;
  /** Whether parts of the schema are missing, because the whole is too large. */
  isReduced: boolean;
  /** Converts the arguments of a call to the input of the procedure; `undefined` for a call without input. */
  toInput(args: unknown): unknown;
}

export interface PortableOptions {
  /** Whether the procedure accepts a call without input. */
  isInputOptional: boolean;
}

/** The largest schema in a list of tools, in characters of JSON, because every agent reads every list. */
const MAX_CHARACTERS = 8000;
/** Levels of nested objects and lists. Of a larger schema, fewer levels are listed. */
const DEPTHS = [8, 4, 2, 1] as const;
const MAX_REDUCED_PROPERTIES = 50;
/** The argument of a tool whose input is not an object. */
const WRAPPER = "input";

/**
 * Converts the input schema of a procedure to one that every model API accepts. Each of these APIs refuses a whole request for one
 * schema that it does not know: at the root, none accepts alternatives. So alternatives are merged, and the app stays the
 * judge of what is valid.
 */
export function toPortableInput(schema: JsonSchema, { isInputOptional }: PortableOptions): PortableInput {
  const writer = new SchemaWriter(schema);
  for (const depth of DEPTHS) {
    const rules = readSchema(schema, depth);
    const portable = writeInput(rules, writer, isInputOptional);
    if (JSON.stringify(portable.schema).length <= MAX_CHARACTERS)
      return { ...portable, isReduced: depth !== DEPTHS[0] };
  }
  return { ...writeInput(reduce(readSchema(schema, 1)), writer, isInputOptional), isReduced: true };
}

type WrittenInput = Omit<PortableInput, "isReduced">;

function writeInput(rules: ValueRules, writer: SchemaWriter, isInputOptional: boolean): WrittenInput {
  const restoreNames = createRestorer(rules);
  const omitEmpty = (args: unknown) => (isInputOptional && isEmpty(args) ? undefined : args);
  const object = rules.types.get("object");
  const others = [...rules.types.keys()].filter((type) => type !== "object" && type !== "null");
  // Validators without a JSON Schema say nothing about their input, which is an object for nearly all of them.
  const isObject = object !== undefined && (others.length === 0 || isAnything(rules));
  if (isObject || rules.types.size === 0) {
    const written = object === undefined ? { properties: {} } : writer.writeProperties(object);
    const alternatives = object?.exact ? writer.writeType(object.exact) : null;
    const toInput = (args: unknown) => restoreNames(omitEmpty(args));
    return { schema: { type: "object", ...written }, alternatives, toInput };
  }
  const required = isInputOptional ? {} : { required: [WRAPPER] };
  const schema = { type: "object", properties: { [WRAPPER]: writer.write(rules) }, ...required };
  const toInput = (args: unknown) => (isRecord(args) ? restoreNames(args[WRAPPER]) : args);
  return { schema, alternatives: null, toInput };
}

/** Keeps the names and types of the first properties. */
function reduce(rules: ValueRules): ValueRules {
  const reduceType = (type: TypeRules): TypeRules => {
    const kept = [...type.properties].slice(0, MAX_REDUCED_PROPERTIES).map(([name, property]) => {
      const types = [...property.types.keys()].map((key) => [key, NO_RULES] as const);
      return [name, { description: "", defaultValue: undefined, types: new Map(types) }] as const;
    });
    return { ...NO_RULES, properties: new Map(kept), items: null };
  };
  const types = [...rules.types].map(([name, type]) => [name, reduceType(type)] as const);
  return { description: "", defaultValue: undefined, types: new Map(types) };
}

function isEmpty(args: unknown): boolean {
  return args === undefined || (isRecord(args) && Object.keys(args).length === 0);
}

type Restore = (value: unknown) => unknown;

/** Returns a function that gives the properties of a value their original names back. Its parts are created on first use. */
function createRestorer(rules: ValueRules): Restore {
  const { properties } = rules.types.get("object") ?? NO_RULES;
  const { items } = rules.types.get("array") ?? NO_RULES;
  let members: ReadonlyMap<string, { name: string; restore: Restore }> | undefined;
  let restoreItem: Restore | undefined;
  return (value) => {
    if (Array.isArray(value)) {
      if (items === null) return value;
      restoreItem ??= createRestorer(items);
      return value.map(restoreItem);
    }
    if (!isRecord(value) || properties.size === 0) return value;
    members ??= createMembers(properties);
    const restored = Object.entries(value).map(([name, member]) => {
      const own = members?.get(name);
      return own === undefined ? ([name, member] as const) : ([own.name, own.restore(member)] as const);
    });
    return Object.fromEntries(restored);
  };
}

/** @returns the properties by portable name, and by their original name, which a caller may use too */
function createMembers(properties: TypeRules["properties"]): Map<string, { name: string; restore: Restore }> {
  const names = namePortably(properties.keys());
  const members = [...properties].flatMap(([name, own]) => {
    const member = { name, restore: createRestorer(own) };
    return [[name, member] as const, [names.get(name) ?? name, member] as const];
  });
  return new Map(members);
}
