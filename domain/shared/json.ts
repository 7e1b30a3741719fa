export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @returns `undefined` when the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Follows a JSON pointer in a URI fragment (RFC 6901), such as `#/$defs/Item`. Only own properties count, so that
 * `#/constructor` finds nothing in a document without such a member.
 *
 * @returns `undefined` when the reference is not such a pointer or leads nowhere
 */
export function resolvePointer(document: unknown, reference: string): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  let node: unknown = document;
  for (const part of reference.split("/").slice(1)) {
    const key = decodePointerPart(part);
    if (typeof node !== "object" || node === null || key === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Record<string, unknown>)[key];
  }
  return node;
}

/** @returns `null` for a part with an invalid escape */
function decodePointerPart(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return null;
  }
}

/**
 * Writes a value as JSON: a bigint as its digits, a set as a list, a map as a list of pairs. `undefined` becomes `null`.
 *
 * @throws {RangeError} when the value is nested more deeply than the stack allows
 */
export function stringifyJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, member: unknown) => {
      if (typeof member === "bigint") return String(member);
      return member instanceof Map || member instanceof Set ? [...member] : member;
    }) ?? "null"
  );
}
