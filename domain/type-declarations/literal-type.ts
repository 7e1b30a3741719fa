import { block, propertyName, quoted } from "./typescript-syntax.ts";
import { simple, type Type, union, UNKNOWN } from "./type-expression.ts";

/** As many values as are told one by one, and as many characters as one may have. */
const VALUES_TOLD = 40;
const LONGEST_TEXT = 200;
/** Of a value that is a list or an object. */
const MEMBERS_TOLD = 8;
const DEEPEST = 3;

/** The type of some JSON values; of many, or of long ones, only what they have in common. */
export function literalsType(values: readonly unknown[]): Type {
  return union(values.length > VALUES_TOLD ? values.map(kindOf) : values.map((value) => literalType(value)));
}

function literalType(value: unknown, depth = 0): Type {
  if (typeof value === "string") return value.length > LONGEST_TEXT ? kindOf(value) : simple(quoted(value));
  if (typeof value !== "object" || value === null) return simple(String(value));
  const members = Object.entries(value);
  if (depth === DEEPEST || members.length > MEMBERS_TOLD || members.some(([name]) => name.length > LONGEST_TEXT))
    return UNKNOWN;
  const types = members.map(([name, each]) => [propertyName(name), literalType(each, depth + 1).text] as const);
  if (Array.isArray(value)) return simple(`[${types.map(([, type]) => type).join(", ")}]`);
  return simple(
    block(
      types.map(([name, type]) => `${name}: ${type}`),
      true,
    ),
  );
}

function kindOf(value: unknown): Type {
  if (value === null) return simple("null");
  return typeof value === "object" ? UNKNOWN : simple(typeof value);
}
