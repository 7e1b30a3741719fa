const KIND = /^[\w./-]{1,64}$/;
const MAX_KINDS = 100;
const OTHER = "other";

/** Counts the records of a transcript that have no entry. The kinds come from the file, so their number is bounded. */
export class SkippedRecords {
  readonly #counts = new Map<string, number>();

  /** @param parts - the types that name the kind, the outer one first */
  add(...parts: unknown[]): void {
    const name = parts.filter((part) => typeof part === "string").join("/");
    const isListed = this.#counts.has(name) || (this.#counts.size < MAX_KINDS && KIND.test(name));
    const kind = isListed ? name : OTHER;
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  toObject(): Record<string, number> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** Adds the counts of two lists. */
export function mergeCounts(a: Record<string, number>, b: Record<string, number>): Record<string, number> {
  const merged = { ...a };
  for (const [kind, count] of Object.entries(b)) merged[kind] = (merged[kind] ?? 0) + count;
  return merged;
}
