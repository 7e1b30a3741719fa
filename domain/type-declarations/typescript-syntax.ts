const ASCII = /^[\x20-\x7E]*$/;
/** Control and format characters, among them those of direction, what has no meaning, and variations of nothing. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\u{E0100}-\u{E01EF}]/gu;

/**
 * Text of others as a literal of JavaScript, in quotation marks. It can be part of a comment, which it does not end, and
 * shows what is in it: nothing invisible, and nothing that turns the text around it.
 */
export function quoted(text: string): string {
  const json = JSON.stringify(text).replaceAll("*/", "*\\/");
  return ASCII.test(json) ? json : json.replaceAll(UNSEEN, escaped);
}

/** The name of a property, as an object or a type has it. */
export function propertyName(name: string): string {
  // As a method, `new` would be what a type is constructed by.
  return isIdentifier(name) && name !== "new" ? name : quoted(name);
}

/** The access to a property. */
export function member(name: string): string {
  return isIdentifier(name) ? `.${name}` : `[${quoted(name)}]`;
}

/** The longest line that something is written on as one, in characters. */
const LINE = 100;

/** What is inside a pair of braces, on one line if it fits there. */
export function block(members: readonly string[], isOneLine = false): string {
  if (members.length === 0) return "{}";
  const line = `{ ${members.join("; ")} }`;
  if (isOneLine || (line.length <= LINE && !line.includes("\n"))) return line;
  return `{\n${members.map((each) => `  ${each.replaceAll("\n", "\n  ")};\n`).join("")}}`;
}

function isIdentifier(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}

/** As UTF-16 has it: characters beyond 65,535 are two. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
