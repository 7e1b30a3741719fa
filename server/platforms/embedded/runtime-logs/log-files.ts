import { appendFile, readFile, rename, stat } from "node:fs/promises";
import path from "node:path";
import { type RuntimeLogRecord } from "../../../../domain/ports/runtime-logs.ts";
import { nullIfMissing } from "../../../files/missing-file.ts";

/** The size of each of the two files of an app, in bytes. */
const MAX_FILE = 512 * 1024;

/**
 * The newest records of one app, one JSON object per line, in two files. When the current file is full, it replaces the
 * previous one. A record that was written survives the end of the service. A power failure can lose the newest ones.
 */
export class LogFiles {
  readonly #current: string;
  readonly #previous: string;
  /** The size of the current file; `null` until it is known. */
  #size: number | null = null;

  /** @param folder - must exist when records are written; without it, there are none */
  constructor(folder: string) {
    this.#current = path.join(folder, "current.jsonl");
    this.#previous = path.join(folder, "previous.jsonl");
  }

  /** Appends records. Calls must not overlap. */
  async append(records: readonly RuntimeLogRecord[]): Promise<void> {
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join("");
    // A crash may have left a line without its end.
    const isFirst = this.#size === null;
    this.#size ??= (await stat(this.#current).catch(nullIfMissing))?.size ?? 0;
    if (this.#size >= MAX_FILE) {
      // The folder may have been removed with the app, and created again for a new deployment of it.
      await rename(this.#current, this.#previous).catch(nullIfMissing);
      this.#size = 0;
    }
    await appendFile(this.#current, isFirst && this.#size > 0 ? `\n${text}` : text, { mode: 0o600 });
    this.#size += Buffer.byteLength(text);
  }

  /** Reads all records, oldest first. */
  async read(): Promise<RuntimeLogRecord[]> {
    const current = await readFile(this.#current, "utf8").catch(nullIfMissing);
    // Read last, so that a file that is renamed meanwhile is read twice rather than not at all.
    const previous = await readFile(this.#previous, "utf8").catch(nullIfMissing);
    return readRecords(`${previous ?? ""}\n${current ?? ""}`);
  }
}

function readRecords(text: string): RuntimeLogRecord[] {
  const records: RuntimeLogRecord[] = [];
  for (const line of text.split("\n")) {
    const record = parse(line);
    if (record !== null && record.id > (records.at(-1)?.id ?? 0)) records.push(record);
  }
  return records;
}

/** Returns `null` for a line that a crash cut off. */
function parse(line: string): RuntimeLogRecord | null {
  try {
    return JSON.parse(line) as RuntimeLogRecord;
  } catch {
    return null;
  }
}
