/** Deeper values are not read: writing them as text would exceed the stack. */
const MAX_DEPTH = 100;
const TOO_DEEP = '"[nested too deeply]"';

/** Writes a value of a parsed file as JSON text. */
export function toJsonText(value: unknown): string {
  return isDeeper(value, MAX_DEPTH) ? TOO_DEEP : (JSON.stringify(value) ?? "");
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}
