import type { JsonSchema } from "../../../domain/ports/procedure-discovery.ts";

/** The types of JSON. An integer is a number with a rule. */
export const VALUE_TYPES = ["object", "array", "string", "number", "boolean", "null"] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

export type Literal = string | number | boolean | null;

/** What a schema says about the values of one type. */
export interface TypeRules {
  /** The only allowed values; `null` for any. */
  values: readonly Literal[] | null;
  /** Keywords of JSON Schema that are bounds, a format or a pattern, by name. */
  bounds: Readonly<Record<string, unknown>>;
  properties: ReadonlyMap<string, ValueRules>;
  required: ReadonlySet<string>;
  /** What the items of a list must match; `null` for anything. */
  items: ValueRules | null;
  /** A schema that says more about objects or lists than the other fields can: alternatives, a map or a tuple. */
  exact: JsonSchema | null;
}

/** The meaning of a schema: the types that it allows, with the rules of each. */
export interface ValueRules {
  description: string;
  /** `undefined` when there is none. */
  defaultValue: unknown;
  types: ReadonlyMap<ValueType, TypeRules>;
}

export const NO_RULES: TypeRules = {
  values: null,
  bounds: {},
  properties: new Map(),
  required: new Set(),
  items: null,
  exact: null,
};

export const ANY_VALUE: ValueRules = {
  description: "",
  defaultValue: undefined,
  types: new Map(VALUE_TYPES.map((type) => [type, NO_RULES])),
};

/** Whether the rules allow any value. */
export function isAnything({ types }: ValueRules): boolean {
  const saysNothing = ({ values, bounds, properties, items, exact }: TypeRules) =>
    values === null && items === null && exact === null && properties.size === 0 && Object.keys(bounds).length === 0;
  return types.size === VALUE_TYPES.length && [...types.values()].every(saysNothing);
}

/** What must match both. */
export function intersect(a: ValueRules, b: ValueRules): ValueRules {
  const types = new Map<ValueType, TypeRules>();
  for (const [type, rules] of a.types) {
    const others = b.types.get(type);
    if (others !== undefined) types.set(type, intersectRules(rules, others));
  }
  return { ...firstTexts(a, b), types };
}

/** What matches one of both. */
export function unite(a: ValueRules, b: ValueRules): ValueRules {
  const types = new Map(a.types);
  for (const [type, rules] of b.types) {
    const others = types.get(type);
    types.set(type, others === undefined ? rules : uniteRules(others, rules));
  }
  return { ...firstTexts(a, b), types };
}

function firstTexts(a: ValueRules, b: ValueRules): Pick<ValueRules, "description" | "defaultValue"> {
  return {
    description: a.description === "" ? b.description : a.description,
    defaultValue: a.defaultValue === undefined ? b.defaultValue : a.defaultValue,
  };
}

function intersectRules(a: TypeRules, b: TypeRules): TypeRules {
  if (a === NO_RULES || b === NO_RULES) return a === NO_RULES ? b : a;
  return {
    values: a.values && b.values ? a.values.filter((value) => b.values?.includes(value)) : (a.values ?? b.values),
    bounds: { ...a.bounds, ...b.bounds },
    properties: mergeProperties(a, b, intersect),
    required: a.required.union(b.required),
    items: a.items && b.items ? intersect(a.items, b.items) : (a.items ?? b.items),
    exact: a.exact ?? b.exact,
  };
}

function uniteRules(a: TypeRules, b: TypeRules): TypeRules {
  if (a === b) return a;
  return {
    values: a.values && b.values ? [...new Set([...a.values, ...b.values])] : null,
    bounds: Object.fromEntries(Object.entries(a.bounds).filter(([name, value]) => b.bounds[name] === value)),
    properties: mergeProperties(a, b, unite),
    required: a.required.intersection(b.required),
    items: a.items && b.items ? unite(a.items, b.items) : null,
    exact: a.exact ?? b.exact,
  };
}

function mergeProperties(
  a: TypeRules,
  b: TypeRules,
  merge: (first: ValueRules, second: ValueRules) => ValueRules,
): Map<string, ValueRules> {
  const properties = new Map(a.properties);
  for (const [name, rules] of b.properties) {
    const others = properties.get(name);
    properties.set(name, others === undefined ? rules : merge(others, rules));
  }
  return properties;
}
