import { simpleType, type TypeExpression, unionOf, UNKNOWN } from "./type-expression.ts";
import { formatBlock, formatPropertyName, quote } from "./typescript-syntax.ts";

/** With more values than this, or with longer strings, only their kind is shown, such as `string`. */
const MAX_VALUES = 40;
const MAX_STRING_CHARACTERS = 200;
/** Bounds on one value that is a list or an object. */
const MAX_MEMBERS = 8;
const MAX_DEPTH = 3;

/** Returns the type of an enum or a constant: a union of literals, or of their kinds beyond the bounds. */
export function literalsToType(values: readonly unknown[]): TypeExpression {
  return unionOf(values.length > MAX_VALUES ? values.map(kindOfValue) : values.map((value) => literalToType(value)));
}

function literalToType(value: unknown, depth = 0): TypeExpression {
  if (typeof value === "string")
    return value.length > MAX_STRING_CHARACTERS ? kindOfValue(value) : simpleType(quote(value));
  if (typeof value !== "object" || value === null) return simpleType(String(value));
  const members = Object.entries(value);
  const hasLongName = members.some(([name]) => name.length > MAX_STRING_CHARACTERS);
  if (depth === MAX_DEPTH || members.length > MAX_MEMBERS || hasLongName) return UNKNOWN;
  if (Array.isArray(value)) {
    const items = members.map(([, item]) => literalToType(item, depth + 1).text);
    return simpleType(`[${items.join(", ")}]`);
  }
  const properties = members.map(
    ([name, item]) => `${formatPropertyName(name)}: ${literalToType(item, depth + 1).text}`,
  );
  return simpleType(formatBlock(properties, true));
}

function kindOfValue(value: unknown): TypeExpression {
  if (value === null) return simpleType("null");
  return typeof value === "object" ? UNKNOWN : simpleType(typeof value);
}
