import type { LoggedApp, LogLevel, RuntimeLogRecord, RuntimeLogs } from "../../domain/ports/runtime-logs.ts";

type Listener = (records: readonly RuntimeLogRecord[]) => void;

/** Runtime logs that contain what a test prints. */
export class MemoryRuntimeLogs implements RuntimeLogs {
  readonly #records = new Map<string, RuntimeLogRecord[]>();
  readonly #listeners = new Map<string, Set<Listener>>();
  /** How often the records of an app were read. */
  reads = 0;

  /** Prints messages. Each is one second later than the one before it; the first is printed at 00:00:01. */
  print(app: LoggedApp, ...messages: [level: LogLevel, message: string][]): RuntimeLogRecord[] {
    const records = this.#records.get(app.id) ?? [];
    const added = messages.map(([level, message], at): RuntimeLogRecord => {
      const id = records.length + at + 1;
      const time = new Date(Date.UTC(2026, 0, 1) + id * 1000).toISOString();
      return { id, time, level, message, requestId: `request-${id}` };
    });
    this.#records.set(app.id, [...records, ...added]);
    for (const listener of this.#listeners.get(app.id) ?? []) listener(added);
    return added;
  }

  /** Adds a record to the stored ones, in the order of their ids, and passes it to the listeners now. */
  add(app: LoggedApp, record: RuntimeLogRecord): void {
    const records = [...(this.#records.get(app.id) ?? []), record];
    this.#records.set(
      app.id,
      records.toSorted((a, b) => a.id - b.id),
    );
    for (const listener of this.#listeners.get(app.id) ?? []) listener([record]);
  }

  listenersOf(app: LoggedApp): number {
    return this.#listeners.get(app.id)?.size ?? 0;
  }

  async read(app: LoggedApp): Promise<RuntimeLogRecord[]> {
    this.reads += 1;
    return this.#records.get(app.id) ?? [];
  }

  listen(app: LoggedApp, listener: Listener): () => void {
    const listeners = this.#listeners.get(app.id) ?? new Set();
    this.#listeners.set(app.id, listeners.add(listener));
    return () => void listeners.delete(listener);
  }
}
