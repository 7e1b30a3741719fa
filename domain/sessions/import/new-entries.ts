import { LRUCache } from "lru-cache";
import type { NewEntry } from "../transcript-entry.ts";

/** Records that are repeated are expected near the first ones. */
const MAX_ENTRIES = 50_000;

/** Leaves out entries that a file has again, because its program writes a record again when it changes. */
export class NewEntries {
  readonly #ids = new LRUCache<string, true>({ maxSize: MAX_ENTRIES, sizeCalculation: () => 1 });

  /** Returns the entries whose ids were not among the earlier ones. */
  filter(entries: readonly NewEntry[]): NewEntry[] {
    const added = entries.filter(({ id }) => !this.#ids.has(id));
    for (const { id } of added) this.#ids.set(id, true);
    return added;
  }
}
