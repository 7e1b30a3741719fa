import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";

/** Turns arbitrary text into unique procedure names. The same texts in the same order give the same names. */
export class UniqueNames {
  readonly #used = new Set<string>();

  /** Adds a number to the name when an earlier text got the same one. */
  add(text: string): string {
    const base = toProcedureName(text);
    let name = base;
    for (let count = 2; this.#used.has(name); count++) name = `${base}_${count}`;
    this.#used.add(name);
    return name;
  }
}

/** `GET /tasks/{id}` becomes `get_tasks_id`. Dots stay where they separate two parts. */
function toProcedureName(text: string): string {
  const shortened = text.slice(0, DISCOVERY_CAPS.nameCharacters);
  const allowed = shortened.replaceAll(/[^A-Za-z0-9_$.-]+/g, "_").replaceAll(/\.{2,}/g, ".");
  return allowed.replaceAll(/^[_.]+(?=[^_.])|(?<=[^_.])[_.]+$/g, "").replaceAll(/_{2,}/g, "_");
}
