import type { SpoolFile } from "../../ports/spool.ts";
import { SESSION_LIMITS } from "../session-rules.ts";
import type { NewEntry } from "../transcript-entry.ts";
import { readLines } from "./read-lines.ts";

/**
 * A batch ends with the entry that exceeds this size of the contents, in UTF-16 units. V8 collects texts of less than 128 KiB
 * sooner: the memory of the service grew by 95 MB in its first import of 50 MB, and by 137 MB with batches of twice the size.
 */
const MAX_CONTENT = 49_152;
/** Of a batch as a line: JSON writes some characters with six bytes. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Writes entries into a file: each line is a batch, as a JSON array. */
export class EntryWriter {
  readonly #file: SpoolFile;
  #batch: NewEntry[] = [];
  #size = 0;

  constructor(file: SpoolFile) {
    this.#file = file;
  }

  async write(entries: readonly NewEntry[]): Promise<void> {
    for (const entry of entries) {
      this.#batch.push(entry);
      this.#size += entry.content.length;
      if (this.#batch.length === SESSION_LIMITS.entriesPerAppend || this.#size > MAX_CONTENT) await this.flush();
    }
  }

  /** Writes the entries that are not a whole batch. */
  async flush(): Promise<void> {
    if (this.#batch.length === 0) return;
    const line = `${JSON.stringify(this.#batch)}\n`;
    this.#batch = [];
    this.#size = 0;
    await this.#file.append(line);
  }
}

/** Reads the batches that an `EntryWriter` has written. */
export async function* readBatches(file: SpoolFile): AsyncIterable<NewEntry[]> {
  for await (const { text } of readLines(file.read(), MAX_LINE_BYTES)) yield JSON.parse(text ?? "") as NewEntry[];
}
