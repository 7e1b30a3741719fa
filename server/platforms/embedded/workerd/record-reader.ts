import { z } from "zod";
import { parseJson } from "../../../../domain/shared/json.ts";
import type { PrintedRecord, RecordSink } from "../runtime-logs/record-sink.ts";

/** A longer line is skipped. In bytes. */
const MAX_LINE = 512 * 1024;

/** In bytes. */
const MAX_UNCONFIRMED_LINE = 16 * 1024;
const OPENING_BRACE = 0x7b;
/** Inside a message, these quotes would be escaped. */
const SOURCE = '"source":';

/** One line of workerd's output. */
interface WorkerdLine {
  /** In milliseconds since the epoch. */
  timestamp: number;
  level: string;
  message: string;
}

/** How many lines of the app are kept until the tail worker has printed them too. */
const MAX_UNCONFIRMED = 100;

/**
 * Finds the records of the tail worker in the output of workerd. workerd itself also prints each message, at once and
 * without its request. Such a message is used only if the tail worker cannot print it: when the process ends before, and
 * while the top-level code of the script runs.
 */
export class RecordReader {
  readonly #mark: string;
  readonly #sink: RecordSink;
  /** The beginning of a line whose end has not arrived yet. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** What workerd printed and the tail worker has not printed yet. */
  #unconfirmed: string[] = [];

  constructor(mark: string, sink: RecordSink) {
    this.#mark = mark;
    this.#sink = sink;
  }

  read(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end));
      if (this.#pendingBytes <= MAX_LINE) this.#readLine(Buffer.concat(this.#pending));
      [this.#pending, this.#pendingBytes] = [[], 0];
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  /** Reports the messages that the tail worker has not printed. */
  reportUnconfirmed(): void {
    for (const line of this.#unconfirmed) {
      const parsed = parseLine(line);
      if (parsed !== null) this.#sink.print([parsed.timestamp, parsed.level, null, parsed.message]);
    }
    this.#unconfirmed = [];
  }

  #keep(bytes: Buffer): void {
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes <= MAX_LINE) this.#pending.push(bytes);
    else this.#pending = [];
  }

  #readLine(line: Buffer): void {
    if (!line.includes(this.#mark)) return this.#keepUnconfirmed(line);
    if (this.#sink.isFull()) {
      this.#unconfirmed.shift();
      return this.#sink.drop();
    }
    const parsed = parseLine(line.toString());
    if (parsed?.message.startsWith(this.#mark) !== true) return;
    const record = parseRecord(parsed.message.slice(this.#mark.length));
    if (record === null) return;
    // Of two requests at the same time, this can be the message of the other one. Then both had the same level.
    const confirmed = this.#unconfirmed.findIndex((kept) => kept.includes(`"level":"${record[1]}"`));
    if (confirmed >= 0) this.#unconfirmed.splice(confirmed, 1);
    this.#sink.print(record);
  }

  #keepUnconfirmed(line: Buffer): void {
    // A line with a source is workerd's own. It contains paths and addresses of this machine.
    if (line[0] !== OPENING_BRACE || line.length > MAX_UNCONFIRMED_LINE || line.includes(SOURCE)) return;
    if (this.#unconfirmed.length >= MAX_UNCONFIRMED) this.#unconfirmed.shift();
    this.#unconfirmed.push(line.toString());
  }
}

const recordSchema = z.tuple([z.number(), z.string(), z.unknown(), z.string()]);

/** Returns `null` for a record that is cut off. An error here would end the service. */
function parseRecord(text: string): PrintedRecord | null {
  return recordSchema.safeParse(parseJson(text)).data ?? null;
}

/** Returns `null` for a line in another format: an app can also write to the standard output itself. */
function parseLine(text: string): WorkerdLine | null {
  try {
    const line = JSON.parse(text) as Partial<WorkerdLine> | null;
    const { timestamp, level, message } = line ?? {};
    if (typeof timestamp !== "number" || typeof level !== "string" || typeof message !== "string") return null;
    return { timestamp, level, message };
  } catch {
    return null;
  }
}
