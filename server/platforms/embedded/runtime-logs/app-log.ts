import type { LogLevel, RuntimeLogRecord } from "../../../../domain/ports/runtime-logs.ts";
import { markForgedLines, SERVICE_PREFIX } from "../../../../domain/shared/log-line-prefix.ts";
import { sanitizeLog } from "../../../../domain/shared/sanitize-log.ts";
import { isRequestId } from "../../../http/request-id.ts";
import { LogFiles } from "./log-files.ts";
import type { PrintedRecord, RecordSink } from "./record-sink.ts";

const WRITE_DELAY_MS = 100;
/** How often the log says how many lines were dropped. */
const DROP_REPORT_MS = 1000;
/** In characters. */
const MAX_MESSAGE_LENGTH = 8192;

const LEVELS = new Map<string, LogLevel>([
  ["debug", "debug"],
  ["log", "info"],
  ["info", "info"],
  ["warn", "warn"],
  ["error", "error"],
  ["exception", "error"],
]);

type Listener = (records: readonly RuntimeLogRecord[]) => void;

/** The runtime log of one app: limits, sanitizes and stores what the app prints. */
export class AppLog implements RecordSink, Disposable {
  readonly listeners = new Set<Listener>();
  readonly #files: LogFiles;
  #newestMasks: readonly string[] = [];
  #masks: readonly string[] = [];
  readonly #limit = new PrintLimit();
  #queue: RuntimeLogRecord[] = [];
  #lastId = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #dropTimer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#files = new LogFiles(folder);
  }

  /** Sets the texts that are masked wherever they appear. The earlier ones stay too, because an older process may print them. */
  setMasks(masks: readonly string[]): void {
    // The longest first, because a secret can contain another one.
    this.#masks = [...masks, ...this.#newestMasks].toSorted((a, b) => b.length - a.length);
    this.#newestMasks = masks;
  }

  /** Adds a message of the app. */
  print([time, level, requestId, text]: PrintedRecord): void {
    if (!this.#limit.take(text.length)) return this.drop();
    const message = markForgedLines(sanitizeLog(text, this.#masks)).trimEnd();
    this.#add({
      time: isTime(time) ? new Date(time) : new Date(),
      level: LEVELS.get(level) ?? "info",
      message,
      requestId: isRequestId(requestId) ? requestId : null,
    });
  }

  isFull(): boolean {
    return this.#limit.isExhausted();
  }

  drop(): void {
    this.#dropped += 1;
    this.#dropTimer ??= setTimeout(() => this.#reportDropped(), DROP_REPORT_MS).unref();
  }

  /** Adds a message of the service. It may quote the app. */
  say(level: LogLevel, text: string): void {
    const message = `${SERVICE_PREFIX} ${sanitizeLog(text, this.#masks)}`;
    this.#add({ time: new Date(), level, message, requestId: null });
  }

  async read(): Promise<RuntimeLogRecord[]> {
    await this.flush();
    return this.#files.read();
  }

  /** Writes everything so far. Never fails: an app that is being removed has no folder any more. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const records = this.#queue;
    this.#queue = [];
    if (records.length > 0) this.#writing = this.#writing.then(() => this.#write(records));
    await this.#writing;
  }

  [Symbol.dispose](): void {
    if (this.#dropTimer !== null) clearTimeout(this.#dropTimer);
    if (this.#dropped > 0) this.#reportDropped();
    void this.flush();
  }

  #reportDropped(): void {
    this.#dropTimer = null;
    const count = this.#dropped;
    this.#dropped = 0;
    this.say("warn", `${count} lines dropped, because the app prints too much`);
  }

  #add({ time, message, ...rest }: Omit<RuntimeLogRecord, "id" | "time"> & { time: Date }): void {
    // The id contains the time, so it also grows after a restart of the service.
    this.#lastId = Math.max(this.#lastId + 1, Date.now() * 1000);
    this.#queue.push({ id: this.#lastId, time: time.toISOString(), ...rest, message: shorten(message) });
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_DELAY_MS);
  }

  async #write(records: readonly RuntimeLogRecord[]): Promise<void> {
    try {
      await this.#files.append(records);
    } catch {
      // The folder was removed with the app, or the disk is full: readers that follow the log still get the records.
    }
    for (const listener of this.listeners) listener(records);
  }
}

/** Whether a number of milliseconds is a time in the years 1970 to 9999. */
function isTime(ms: number): boolean {
  return ms >= 0 && ms < Date.UTC(10_000);
}

function shorten(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  const kept = message.slice(0, MAX_MESSAGE_LENGTH - 64).toWellFormed();
  return `${kept}… (${message.length - kept.length} more characters)`;
}

/** How much of what an app prints is stored. A burst may be larger than what is stored per second afterwards. */
const LIMITS = { lines: { burst: 1000, perSecond: 100 }, characters: { burst: 256 * 1024, perSecond: 32 * 1024 } };

/** Token buckets that limit how many lines of an app, and how many characters, are stored. */
class PrintLimit {
  #lines = LIMITS.lines.burst;
  #characters = LIMITS.characters.burst;
  #checkedAt = performance.now();

  /** Whether a line may be stored. It then counts. */
  take(characters: number): boolean {
    this.#refill();
    if (this.#lines < 1 || this.#characters < characters) return false;
    this.#lines -= 1;
    this.#characters -= characters;
    return true;
  }

  /** Whether no line may be stored now. */
  isExhausted(): boolean {
    this.#refill();
    return this.#lines < 1 || this.#characters < 1;
  }

  #refill(): void {
    const now = performance.now();
    const seconds = (now - this.#checkedAt) / 1000;
    this.#checkedAt = now;
    this.#lines = Math.min(this.#lines + seconds * LIMITS.lines.perSecond, LIMITS.lines.burst);
    this.#characters = Math.min(this.#characters + seconds * LIMITS.characters.perSecond, LIMITS.characters.burst);
  }
}
