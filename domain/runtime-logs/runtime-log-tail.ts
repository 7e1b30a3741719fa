import type { Db } from "../database-types.ts";
import {
  LOG_LEVELS,
  type LoggedApp,
  type LogLevel,
  type RuntimeLogRecord,
  type RuntimeLogs,
} from "../ports/runtime-logs.ts";
import { ChangeSignal, type StreamChunk, type StreamEvent } from "../shared/stream-events.ts";
import { toRuntimeLogView } from "./runtime-log-view.ts";

export interface RuntimeLogTailDeps {
  db: Db;
  runtimeLogs: RuntimeLogs;
}

/** How often the tail checks that the app still exists. In milliseconds. */
const CHECK_MS = 1000;
/** The records that are kept for slow readers. Together they have at most as many characters as the store keeps. */
const MAX_RECORDS = 4000;
const MAX_CHARACTERS = 1024 * 1024;
const CHUNK_RECORDS = 100;
/** In characters. */
const CHUNK_LENGTH = 16 * 1024;
const MAX_KEPT_CHUNKS = 16;

const END: StreamChunk = [{ id: "end", type: "end", data: JSON.stringify({ status: "deleting" }) }];

/** The newest records of one app. All readers in the process share them. */
export class RuntimeLogTail implements Disposable {
  readonly #deps: RuntimeLogTailDeps;
  readonly #app: LoggedApp;
  readonly #changed = new ChangeSignal();
  readonly #timer: NodeJS.Timeout;
  readonly #unlisten: () => void;
  /** By level and the id before them. They are valid until there are new records. */
  readonly #chunks = new Map<string, StreamChunk>();
  /** In the order in which they arrived, so that a reader also gets a record that is older than the one before it. */
  #records: RuntimeLogRecord[] = [];
  #characters = 0;
  /** The highest id of the records that are not kept any more. They are not added when they come again. */
  #droppedId = 0;
  #isDeleted = false;
  #opening: Promise<void> | undefined;

  constructor(deps: RuntimeLogTailDeps, app: LoggedApp) {
    this.#deps = deps;
    this.#app = app;
    this.#timer = setInterval(() => void this.#checkApp().catch(() => undefined), CHECK_MS).unref();
    this.#unlisten = deps.runtimeLogs.listen(app, (records) => this.#add(records));
  }

  /** Reads the records that exist. Later ones arrive by themselves. */
  open(): Promise<void> {
    return (this.#opening ??= this.#readStored());
  }

  /** The id of the record before the first one at `since` or later, or of the last of all; 0 if there is none. */
  idBefore(since: string | undefined): number {
    const from = since === undefined ? Infinity : new Date(since).getTime();
    const first = this.#records.findIndex(({ time }) => new Date(time).getTime() >= from);
    return this.#records[(first === -1 ? this.#records.length : first) - 1]?.id ?? 0;
  }

  /** Returns the events after a record, when there are any of the level. */
  async readAfter(id: number, level: LogLevel, signal: AbortSignal): Promise<StreamChunk> {
    for (;;) {
      const chunk = this.#chunks.get(`${level} ${id}`) ?? this.#createChunk(id, level);
      if (chunk.length > 0) return chunk;
      if (this.#isDeleted) return END;
      await this.#changed.wait(signal);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#unlisten();
  }

  #createChunk(id: number, level: LogLevel): StreamChunk {
    const minimum = LOG_LEVELS.indexOf(level);
    const events: StreamEvent[] = [];
    let length = 0;
    for (let at = this.#indexOf(id) + 1; at < this.#records.length; at++) {
      const record = this.#records[at];
      if (record === undefined || events.length === CHUNK_RECORDS || length > CHUNK_LENGTH) break;
      if (LOG_LEVELS.indexOf(record.level) < minimum) continue;
      events.push({ id: String(record.id), type: "line", data: JSON.stringify(toRuntimeLogView(record)) });
      length += record.message.length;
    }
    if (this.#chunks.size >= MAX_KEPT_CHUNKS) this.#chunks.clear();
    this.#chunks.set(`${level} ${id}`, events);
    return events;
  }

  /** The index of a record; if it is not kept, the index before the first newer one. -1 if there is none. */
  #indexOf(id: number): number {
    const index = this.#records.findLastIndex((record) => record.id === id);
    if (index !== -1) return index;
    const next = this.#records.findIndex((record) => record.id > id);
    return (next === -1 ? this.#records.length : next) - 1;
  }

  async #readStored(): Promise<void> {
    const stored = await this.#deps.runtimeLogs.read(this.#app);
    // New records can have arrived while the store was read, and can be in both.
    const arrived = this.#records;
    [this.#records, this.#characters, this.#droppedId] = [[], 0, 0];
    this.#add(stored);
    this.#add(arrived);
  }

  #add(received: readonly RuntimeLogRecord[]): void {
    const ids = new Set(this.#records.map(({ id }) => id));
    const added = received.filter(({ id }) => id > this.#droppedId && !ids.has(id));
    this.#records.push(...added);
    this.#characters += added.reduce((sum, { message }) => sum + message.length, 0);
    while (this.#records.length > MAX_RECORDS || this.#characters > MAX_CHARACTERS) this.#dropFirst();
    this.#chunks.clear();
    this.#changed.notify();
  }

  #dropFirst(): void {
    const { id = 0, message = "" } = this.#records.shift() ?? {};
    this.#characters -= message.length;
    this.#droppedId = Math.max(this.#droppedId, id);
  }

  async #checkApp(): Promise<void> {
    const app = this.#deps.db.selectFrom("apps").select("status").where("id", "=", this.#app.id);
    const row = await app.executeTakeFirst();
    if (row !== undefined && row.status !== "deleting") return;
    this.#isDeleted = true;
    this.#changed.notify();
  }
}
