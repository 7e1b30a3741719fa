import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";

/** Makes names of procedures from names that may hold anything. The same names in the same order give the same result. */
export class UniqueNames {
  readonly #taken = new Set<string>();

  take(wanted: string): string {
    const name = plain(wanted);
    let free = name;
    for (let count = 2; this.#taken.has(free); count++) free = `${name}_${count}`;
    this.#taken.add(free);
    return free;
  }
}

/** `GET /tasks/{id}` becomes `get_tasks_id`. Dots stay where they separate something. */
function plain(text: string): string {
  const cut = text.slice(0, DISCOVERY_CAPS.nameCharacters);
  const kept = cut.replaceAll(/[^A-Za-z0-9_$.-]+/g, "_").replaceAll(/\.{2,}/g, ".");
  return kept.replaceAll(/^[_.]+(?=[^_.])|(?<=[^_.])[_.]+$/g, "").replaceAll(/_{2,}/g, "_");
}
