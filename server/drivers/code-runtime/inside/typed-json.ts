// JSON with dates, bigints, sets and maps, for both ends of the connection between a program and the host. Each such value
// becomes an object with `$type`; so does an object that has a property of this name itself. It imports nothing.

/** @throws {TypeError} when the value contains itself */
export function stringify(value: unknown): string {
  return JSON.stringify(value, function write(this: Record<string, unknown>, key, member: unknown) {
    // A date has become a text before this function receives it.
    const original = this[key];
    if (original instanceof Date) return { $type: "Date", value: original.getTime() };
    if (typeof original === "bigint") return { $type: "bigint", value: String(original) };
    if (original instanceof Set) return { $type: "Set", value: [...original] };
    if (original instanceof Map) return { $type: "Map", value: [...original] };
    const hasMarker = typeof member === "object" && member !== null && Object.hasOwn(member, "$type");
    return hasMarker ? { $type: "Object", value: Object.entries(member) } : member;
  });
}

/** @throws {SyntaxError} when the text is not JSON */
export function parse(text: string): unknown {
  return text.includes('"$type"') ? JSON.parse(text, (_key, value: unknown) => revive(value)) : JSON.parse(text);
}

/** A value that has no valid form stays as it is: the other end may send anything. */
function revive(written: unknown): unknown {
  if (typeof written !== "object" || written === null || !Object.hasOwn(written, "$type")) return written;
  const { $type, value } = written as { $type: unknown; value: unknown };
  if ($type === "Date") return new Date(typeof value === "number" ? value : Number.NaN);
  if ($type === "bigint" && /^-?\d{1,1000}$/.test(String(value))) return BigInt(String(value));
  if (!Array.isArray(value)) return written;
  if ($type === "Set") return new Set(value);
  if (!value.every(isPair)) return written;
  if ($type === "Map") return new Map(value);
  return $type === "Object" ? Object.fromEntries(value) : written;
}

function isPair(value: unknown): value is [string, unknown] {
  return Array.isArray(value) && value.length === 2;
}
