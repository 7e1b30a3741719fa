/** A TypeScript type as source text. */
export interface TypeExpression {
  text: string;
  /** Whether the text needs parentheses as part of another type. */
  isCompound: boolean;
}

export const UNKNOWN = simpleType("unknown");
export const NEVER = simpleType("never");
export const NULL = simpleType("null");

export function simpleType(text: string): TypeExpression {
  return { text, isCompound: false };
}

export function unionOf(types: readonly TypeExpression[]): TypeExpression {
  const texts = [...new Set(types.map(({ text }) => text))].filter((text) => text !== "never");
  if (texts.includes("unknown")) return UNKNOWN;
  if (texts.length > 1) return { text: texts.join(" | "), isCompound: true };
  const [only = "never"] = texts;
  return types.find(({ text }) => text === only) ?? NEVER;
}

export function intersectionOf(types: readonly TypeExpression[]): TypeExpression {
  const distinct = types.filter(({ text }, at) => types.findIndex((other) => other.text === text) === at);
  const known = distinct.filter(({ text }) => text !== "unknown");
  const [only = UNKNOWN] = known;
  if (known.length <= 1) return only;
  return { text: known.map(parenthesize).join(" & "), isCompound: true };
}

export function arrayOf(item: TypeExpression): TypeExpression {
  return simpleType(`${parenthesize(item)}[]`);
}

function parenthesize({ text, isCompound }: TypeExpression): string {
  return isCompound ? `(${text})` : text;
}
