import anyAscii from "any-ascii";
import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";

/** Turns arbitrary text into unique procedure names. The same texts in the same order give the same names. */
export class UniqueNames {
  readonly #used = new Set<string>();

  /**
   * Adds a number to the name when an earlier text got the same one.
   *
   * @param fallback - used for a text without any letter or digit
   */
  add(text: string, fallback = "procedure"): string {
    const base = [text, fallback].map(toProcedureName).find((name) => /[A-Za-z0-9]/.test(name)) ?? "procedure";
    let name = base;
    for (let count = 2; this.#used.has(name); count++) {
      const suffix = `_${count}`;
      name = base.slice(0, DISCOVERY_CAPS.nameCharacters - suffix.length) + suffix;
    }
    this.#used.add(name);
    return name;
  }
}

/**
 * `GET /tasks/{id}` becomes `get_tasks_id`. Dots stay where they separate two parts. Other scripts are transliterated:
 * `получить` becomes `poluchit`.
 */
function toProcedureName(text: string): string {
  const original = text.slice(0, DISCOVERY_CAPS.nameCharacters).toWellFormed();
  // The soft sign of Cyrillic becomes an apostrophe, which does not separate words.
  const ascii = /\P{ASCII}/u.test(original) ? anyAscii(original).replaceAll(/['"`]/g, "") : original;
  const allowed = ascii.replaceAll(/[^A-Za-z0-9_$.-]+/g, "_").replaceAll(/\.{2,}/g, ".");
  const shortened = allowed.slice(0, DISCOVERY_CAPS.nameCharacters);
  return shortened.replaceAll(/^[_.]+(?=[^_.])|(?<=[^_.])[_.]+$/g, "").replaceAll(/_{2,}/g, "_");
}
