/** A value of a Cap'n Proto configuration. Enums and `void` are names, as in the text format. */
export type CapnpValue = string | number | boolean | Name | Embedded | readonly CapnpValue[] | CapnpStruct;

export interface CapnpStruct {
  readonly [field: string]: CapnpValue | undefined;
}

class Name {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The content of a file, which workerd reads itself. Its path is relative to an import folder, and begins with `/`. */
export class Embedded {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** The value of a field without one, such as `unsafeEval`. */
export const VOID = new Name("void");

/** Writes a value in the text format of Cap'n Proto. Fields that are `undefined` are left out. */
export function toCapnp(value: CapnpValue): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (value instanceof Name) return value.text;
  if (value instanceof Embedded) return `embed ${quote(value.path)}`;
  if (isList(value)) return `[${value.map((item) => toCapnp(item)).join(", ")}]`;
  const fields = Object.entries(value).flatMap(([name, field]) =>
    field === undefined ? [] : [`${name} = ${toCapnp(field)}`],
  );
  return `(${fields.join(", ")})`;
}

function isList(value: CapnpValue): value is readonly CapnpValue[] {
  return Array.isArray(value);
}

/** Cap'n Proto has no escape sequences for code points, but its texts are UTF-8. */
function quote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters to escape
  return `"${text.toWellFormed().replace(/[\u0000-\u001f"\\\u007f]/g, escape)}"`;
}

function escape(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
