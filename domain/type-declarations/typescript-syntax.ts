const ASCII = /^[\x20-\x7E]*$/;
/** Invisible characters: control and format characters (among them text direction), separators, variation selectors. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\u{E0100}-\u{E01EF}]/gu;

/**
 * Writes untrusted text as a JavaScript string literal. The literal is safe inside a comment, which it cannot end. It
 * contains no invisible characters, and none that change the direction of the text around it.
 */
export function quote(text: string): string {
  const json = JSON.stringify(text).replaceAll("*/", "*\\/");
  return ASCII.test(json) ? json : json.replaceAll(INVISIBLE, escapeCharacter);
}

/** Formats the name of a property for an object literal or a type. */
export function formatPropertyName(name: string): string {
  // As a method of an interface, `new` would declare a constructor.
  return isIdentifier(name) && name !== "new" ? name : quote(name);
}

/** Writes the access to a property: `.name` or `["name"]`. */
export function formatPropertyAccess(name: string): string {
  return isIdentifier(name) ? `.${name}` : `[${quote(name)}]`;
}

/** Writes a value of JSON, a date, bigint, set or map as an expression. */
export function formatValue(value: unknown): string {
  if (value instanceof Date) return `new Date(${quote(value.toISOString())})`;
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Set || value instanceof Map)
    return `new ${value instanceof Set ? "Set" : "Map"}(${formatValue([...value])})`;
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const members = Object.entries(value).map(([name, member]) => `${formatKey(name)}: ${formatValue(member)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** In an object literal, `__proto__` without brackets would set the prototype. */
function formatKey(name: string): string {
  return name === "__proto__" ? `["__proto__"]` : formatPropertyName(name);
}

const MAX_LINE_CHARACTERS = 100;

/** Writes members in braces, on one line when they fit. */
export function formatBlock(members: readonly string[], isOneLine = false): string {
  if (members.length === 0) return "{}";
  const line = `{ ${members.join("; ")} }`;
  if (isOneLine || (line.length <= MAX_LINE_CHARACTERS && !line.includes("\n"))) return line;
  return `{\n${members.map((member) => `  ${member.replaceAll("\n", "\n  ")};\n`).join("")}}`;
}

function isIdentifier(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}

/** A character beyond U+FFFF has two UTF-16 code units, and so two escapes. */
function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
