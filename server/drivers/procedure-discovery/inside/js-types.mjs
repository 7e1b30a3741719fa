// Describes the types of zod that JSON does not have: dates, bigints, sets and maps.

/** The keyword of `JS_TYPE_KEYWORD` outside. */
const KEYWORD = "x-js-type";

/**
 * @param {"Date" | "bigint" | "Set" | "Map"} type
 * @param {object} json how JSON can represent the value
 * @param {object} options
 * @param {"input" | "output"} options.direction
 * @param {boolean} options.isSuperjson whether the router's transformer keeps the type; without one, a date becomes a text
 * @param {boolean} [options.isCoerced] whether the app converts other values to the type itself
 */
export function describeJsType(type, json, { direction, isSuperjson, isCoerced = false }) {
  if (isCoerced && direction === "input") return json;
  if (isSuperjson) return { ...json, [KEYWORD]: type };
  if (direction === "input") return { ...NOTHING };
  return type === "Date" ? json : {};
}

export const DATE = { type: "string", format: "date-time" };
export const BIGINT = { type: "string", pattern: "^-?\\d+$" };

export function setOf(items) {
  return { type: "array", items, uniqueItems: true };
}

export function mapOf(key, value) {
  return { type: "array", items: { type: "array", prefixItems: [key, value], items: false, minItems: 2, maxItems: 2 } };
}

/** Matches no value: no caller can send one. */
const NOTHING = { not: {} };

/** Whether no input can match a schema, because a value that it requires cannot be sent. */
export function isImpossible(schema, depth = 0) {
  if (typeof schema !== "object" || schema === null || depth > 100) return false;
  const { not, required = [], properties = {}, allOf = [], anyOf, oneOf } = schema;
  if (not && Object.keys(not).length === 0) return true;
  const alternatives = anyOf ?? oneOf ?? [];
  return (
    required.some((name) => isImpossible(properties[name], depth + 1)) ||
    allOf.some((part) => isImpossible(part, depth + 1)) ||
    (alternatives.length > 0 && alternatives.every((part) => isImpossible(part, depth + 1)))
  );
}
