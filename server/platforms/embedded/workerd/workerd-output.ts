import type { Readable } from "node:stream";
import { applyMasks } from "../../../../domain/shared/secret-masks.ts";
import type { RecordReader } from "./record-reader.ts";

/** How much of the output is kept. */
const KEPT_BYTES = 16_384;
const MAX_MESSAGE_LENGTH = 800;
/** How much of the beginning is kept, and how much of it `firstLines` returns. */
const FIRST_BYTES = 16_384;
const MAX_LINES = 100;
const MAX_LINE_LENGTH = 4096;

/** How much an app may print per second without a pause. Reading costs the service, not the app, CPU time. */
const BYTES_PER_SECOND = 1_000_000;

export interface OutputOptions {
  /** Finds the records of the runtime log in the standard output; `null` if it has none. */
  records?: RecordReader | null;
  /** The texts that messages must not contain: the secrets of the app. */
  masks?: readonly string[] | undefined;
}

/** The last output of one workerd, which explains why an app is unhealthy. An app may print without end. */
export class WorkerdOutput {
  #kept = Buffer.alloc(0);
  #first = Buffer.alloc(0);
  readonly #records: RecordReader | null;
  readonly #masks: readonly string[];
  readonly #flood = Promise.withResolvers<void>();

  constructor({ records = null, masks = [] }: OutputOptions = {}) {
    this.#records = records;
    this.#masks = masks;
  }

  /** Resolves when the app prints faster than the limit for the first time. */
  get flooded(): Promise<void> {
    return this.#flood.promise;
  }

  /** Reads a stream, because a full pipe would block the process, but not faster than the limit. */
  follow(stream: Readable, hasRecords = false): void {
    let secondEndsAt = 0;
    let bytes = 0;
    stream.on("data", (chunk: Buffer) => {
      if (hasRecords) this.#records?.read(chunk);
      this.#kept = Buffer.concat([this.#kept, chunk]).subarray(-KEPT_BYTES);
      if (this.#first.length < FIRST_BYTES) this.#first = Buffer.concat([this.#first, chunk]).subarray(0, FIRST_BYTES);
      const now = Date.now();
      if (now >= secondEndsAt) [secondEndsAt, bytes] = [now + 1000, 0];
      bytes += chunk.length;
      if (bytes > BYTES_PER_SECOND) this.#pause(stream, secondEndsAt - now);
    });
    stream.on("error", () => {});
  }

  #pause(stream: Readable, ms: number): void {
    this.#flood.resolve();
    stream.pause();
    setTimeout(() => stream.resume(), ms).unref();
  }

  /** The last lines, for the service's own log. */
  tail(): string {
    return applyMasks(this.#kept.toString("utf8"), this.#masks).slice(-MAX_MESSAGE_LENGTH).trim();
  }

  /** The first lines that the app itself printed. */
  firstLines(): string[] {
    const lines = this.#first.toString("utf8").split("\n").flatMap(readPrinted);
    const masked = lines.map((line) => applyMasks(line, this.#masks).slice(0, MAX_LINE_LENGTH).trim());
    return masked.filter((line) => line !== "").slice(0, MAX_LINES);
  }

  /** The message of the last error that the app itself reported, without its stack; `null` if there is none. */
  lastError(): string | null {
    const messages = this.#kept
      .toString("utf8")
      .split("\n")
      .map(readError)
      .filter((message) => message !== null);
    return applyMasks(messages.at(-1) ?? "", this.#masks).slice(0, MAX_MESSAGE_LENGTH) || null;
  }
}

/** Returns the lines of a message of the app, or of an error that it threw. What its tail worker prints begins with a mark. */
function readPrinted(text: string): string[] {
  const error = readError(text);
  if (error !== null) return error.split("\n");
  const line = parse(text);
  return line === null || line.source !== undefined || TAIL_RECORD.test(line.message) ? [] : line.message.split("\n");
}

/** workerd sends a request that no handler accepts to its URL, which the network of an app refuses. */
const NETWORK_ERROR = /^e = rust\/worker\/ffi\.rs\b/;

/** In place of workerd's own message about a request that no handler accepts. */
export const NOT_HANDLED = "No handler accepts requests.";

/** A UUID and a JSON array. */
const TAIL_RECORD = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\[/;

interface LogLine {
  level: string;
  message: string;
  /** The place in workerd's source. A line that the app logs has none. */
  source?: string;
}

/** Returns only messages of the app: workerd's own messages contain paths and addresses of this machine. */
function readError(text: string): string | null {
  const line = parse(text);
  if (!line || !["error", "fatal"].includes(line.level)) return null;
  if (/out of memory|heap limit/i.test(line.message)) return "The script ran out of memory.";
  if (line.source === undefined) return line.message.trim();
  if (/^workerd\/io\/worker-entrypoint\b/.test(line.source) && NETWORK_ERROR.test(line.message)) return NOT_HANDLED;
  const message = line.message.split("\nstack:")[0] ?? "";
  return (
    (
      /\bjsg\.((?:\w*Error|DOMException)\b.*)/s.exec(message) ?? /^service core:user:app: (.*)/s.exec(message)
    )?.[1]?.trim() ?? null
  );
}

function parse(text: string): LogLine | null {
  try {
    const line = JSON.parse(text) as Partial<LogLine> | null;
    return typeof line?.level === "string" && typeof line.message === "string" ? (line as LogLine) : null;
  } catch {
    return null;
  }
}
