/** A type as TypeScript writes it. */
export interface Type {
  text: string;
  /** Whether it needs brackets where it is a part of another one. */
  compound: boolean;
}

export const UNKNOWN = simple("unknown");
export const NEVER = simple("never");
export const NULL = simple("null");

export function simple(text: string): Type {
  return { text, compound: false };
}

export function union(types: readonly Type[]): Type {
  const texts = [...new Set(types.map(({ text }) => text))].filter((text) => text !== "never");
  if (texts.includes("unknown")) return UNKNOWN;
  const [first = "never"] = texts;
  if (texts.length > 1) return { text: texts.join(" | "), compound: true };
  return types.find(({ text }) => text === first) ?? NEVER;
}

export function intersection(types: readonly Type[]): Type {
  const distinct = types.filter(({ text }, at) => types.findIndex((other) => other.text === text) === at);
  const telling = distinct.filter(({ text }) => text !== "unknown");
  const [only = UNKNOWN] = telling;
  if (telling.length <= 1) return only;
  return { text: telling.map(bracketed).join(" & "), compound: true };
}

export function arrayOf(item: Type): Type {
  return simple(`${bracketed(item)}[]`);
}

function bracketed({ text, compound }: Type): string {
  return compound ? `(${text})` : text;
}
