import type { Readable } from "node:stream";

/** How much of what an app prints is kept. */
const KEPT_BYTES = 16_384;
const SHOWN_CHARACTERS = 800;

/** What an app may print in a second before it has to wait; reading costs the service, not the app. */
const BYTES_PER_SECOND = 4_000_000;

/** The end of what one workerd prints, kept to explain why an app is unhealthy. An app may print without end. */
export class WorkerdOutput {
  #kept = Buffer.alloc(0);
  readonly #flood = Promise.withResolvers<void>();

  /** Settles when the app first prints more than is read at once. */
  get flooded(): Promise<void> {
    return this.#flood.promise;
  }

  /** Keeps reading, because a full pipe stops the process; but not faster than a sane app prints. */
  follow(stream: Readable): void {
    let secondEndsAt = 0;
    let bytes = 0;
    stream.on("data", (chunk: Buffer) => {
      this.#kept = Buffer.concat([this.#kept, chunk]).subarray(-KEPT_BYTES);
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

  /** The last lines as they came, for the service's own log. */
  tail(): string {
    return this.#kept.toString("utf8").slice(-SHOWN_CHARACTERS).trim();
  }

  /** The last error of the app itself, in its own words without stack; `null` when it reported none. */
  lastError(): string | null {
    const messages = this.#kept
      .toString("utf8")
      .split("\n")
      .map(errorOf)
      .filter((message) => message !== null);
    return messages.at(-1)?.slice(0, SHOWN_CHARACTERS) ?? null;
  }
}

interface LogLine {
  level: string;
  message: string;
  /** The place in workerd's source; what the app logs itself has none. */
  source?: string;
}

/** Only what comes from the app is let through: workerd's own messages name files and addresses of this machine. */
function errorOf(text: string): string | null {
  const line = parse(text);
  if (!line || !["error", "fatal"].includes(line.level)) return null;
  if (/out of memory|heap limit/i.test(line.message)) return "The script ran out of memory.";
  if (line.source === undefined) return line.message.trim();
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
