import type { EntryUsage, NewEntry } from "../../transcript-entry.ts";

/** A response with more entries is not expected to have a usage. */
const MAX_HELD = 500;

/** Holds the entries of the last response until its usage is read, which Codex writes after them. */
export class ResponseBuffer {
  #entries: NewEntry[] = [];
  #expectsUsage = false;

  get hasEntries(): boolean {
    return this.#entries.length > 0;
  }

  /** Called when the file shows that Codex writes the usages of responses. */
  expectUsage(): void {
    this.#expectsUsage = true;
  }

  /** Adds an entry of the response, or a result of one of its calls. Returns the entries that are not held. */
  add(entry: NewEntry): NewEntry[] {
    if (entry.role === "tool" && !this.hasEntries) return [entry];
    this.#entries.push(entry);
    return this.#entries.length < MAX_HELD ? [] : this.release();
  }

  /** Returns the entries of the response with its usage; `null` when it has none. */
  finish(usage: EntryUsage): NewEntry[] | null {
    const [first, ...others] = this.release();
    return first === undefined ? null : [{ ...first, usage }, ...others];
  }

  /** Returns the entries of a response that has no usage. */
  release(): NewEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  /**
   * Returns the entries that are left at the end of the file. If their usage may still be written, there are none: a longer
   * version of the file adds them with it.
   */
  end(): NewEntry[] {
    return this.#expectsUsage ? [] : this.release();
  }
}
