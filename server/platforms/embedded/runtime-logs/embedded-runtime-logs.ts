import { mkdir } from "node:fs/promises";
import type { LoggedApp, RuntimeLogRecord, RuntimeLogs } from "../../../../domain/ports/runtime-logs.ts";
import { ReferenceCountedInstances } from "../../../../domain/shared/reference-counted-instances.ts";
import { AppLog } from "./app-log.ts";
import type { RecordSink } from "./record-sink.ts";

/**
 * How long a log stays open after its last use. Two open logs of one app would write at the same time and use the same ids,
 * for example when a process has ended and the supervisor reports why.
 */
const LINGER_MS = 5000;

/** The log of an app that has a process. */
export interface OpenAppLog {
  sink: RecordSink;
  close(): void;
}

/** The runtime logs of the apps on this machine. */
export class EmbeddedRuntimeLogs implements RuntimeLogs {
  readonly #folderOf: (app: LoggedApp) => string;
  readonly #logs = new ReferenceCountedInstances<AppLog>();

  /** @param folderOf - returns the folder of an app's log, which is removed with the app */
  constructor(folderOf: (app: LoggedApp) => string) {
    this.#folderOf = folderOf;
  }

  /**
   * Opens the log of an app that starts. The app must not be removed meanwhile.
   *
   * @param masks - the texts that its log must not contain: its secrets
   */
  async open(app: LoggedApp, masks: readonly string[]): Promise<OpenAppLog> {
    await mkdir(this.#folderOf(app), { recursive: true, mode: 0o700 });
    const { instance: log, release } = this.#acquire(app);
    log.setMasks(masks);
    return { sink: log, close: release };
  }

  /** Adds an error that the service found. `message` may quote the app, without its secrets. */
  reportError(app: LoggedApp, message: string): void {
    const { instance: log, release } = this.#acquire(app);
    log.say("error", message);
    release();
  }

  async read(app: LoggedApp): Promise<RuntimeLogRecord[]> {
    const { instance: log, release } = this.#acquire(app);
    try {
      return await log.read();
    } finally {
      release();
    }
  }

  listen(app: LoggedApp, listener: (records: readonly RuntimeLogRecord[]) => void): () => void {
    const { instance: log, release } = this.#acquire(app);
    log.listeners.add(listener);
    return () => {
      log.listeners.delete(listener);
      release();
    };
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    await Promise.all(this.#logs.all().map((log) => log.flush()));
  }

  #acquire(app: LoggedApp): { instance: AppLog; release: () => void } {
    const { instance, release } = this.#logs.acquire(`${app.slug}/${app.id}`, () => new AppLog(this.#folderOf(app)));
    return { instance, release: () => void setTimeout(release, LINGER_MS).unref() };
  }
}
