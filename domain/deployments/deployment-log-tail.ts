import { LOG_BUCKET } from "../apps/app-resources.ts";
import { isInProgress } from "../apps/app-status.ts";
import type { Db } from "../database-types.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { ChangeSignal, type StreamChunk } from "../shared/stream-events.ts";
import type { DeploymentStatus } from "./deployment-status.ts";
import { LogText } from "./log-text.ts";

export interface LogTailDeps {
  db: Db;
  objects: ObjectStore;
}

/** The deployment whose log is followed. */
export interface FollowedDeployment {
  id: string;
  number: number;
  logKey: string;
}

/** The data of the event `end`. */
export interface LogEnd {
  /** The final status of the deployment; `deleting` when the app is being deleted. */
  status: DeploymentStatus | "deleting";
  status_message: string | null;
  error: string | null;
}

/** How often the log is read without a notice, because notices can get lost. In milliseconds. */
const POLL_MS = 1000;
/** In characters. A slow reader holds at most a few chunks in memory. */
const CHUNK_LENGTH = 16 * 1024;
const CHUNK_LINES = 250;
/** Readers at different places get chunks of their own. */
const MAX_KEPT_CHUNKS = 16;

const DELETED: LogEnd = { status: "deleting", status_message: "The app is being torn down.", error: null };

/** The log of one deployment as this process knows it. All readers in the process share it, so it is read once for all. */
export class DeploymentLogTail implements Disposable {
  readonly #deps: LogTailDeps;
  readonly #deployment: FollowedDeployment;
  readonly #changed = new ChangeSignal();
  readonly #timer: NodeJS.Timeout;
  /** By the position before them. They are valid until the log changes. */
  readonly #chunks = new Map<number, StreamChunk>();
  #stored = "";
  #text = new LogText();
  #end: LogEnd | null = null;
  #reading: Promise<void> | null = null;
  #mustReadAgain = false;

  constructor(deps: LogTailDeps, deployment: FollowedDeployment) {
    this.#deps = deps;
    this.#deployment = deployment;
    this.#timer = setInterval(() => this.refreshSoon(), POLL_MS).unref();
  }

  /** As `refresh`, for a notice. A read that fails is repeated by the next one. */
  refreshSoon(): void {
    this.refresh().catch(() => undefined);
  }

  /** Reads what has changed. Simultaneous calls share one read, which begins after the last of them. */
  async refresh(): Promise<void> {
    if (this.#end !== null) return;
    this.#mustReadAgain = true;
    this.#reading ??= this.#readWhileChanged().finally(() => (this.#reading = null));
    await this.#reading;
  }

  /** Returns the events after a position, when there are any. */
  async readAfter(position: number, signal: AbortSignal): Promise<StreamChunk> {
    for (;;) {
      const chunk = this.#chunks.get(position) ?? this.#createChunk(position);
      if (chunk.length > 0) return chunk;
      await this.#changed.wait(signal);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #createChunk(position: number): StreamChunk {
    const { number } = this.#deployment;
    const lines = this.#text.readLines(position, CHUNK_LENGTH, this.#end !== null).slice(0, CHUNK_LINES);
    const chunk: StreamChunk = lines.map((line) => ({
      id: `${number}-${line.position}`,
      type: "line",
      data: line.text,
    }));
    if (chunk.length === 0 && this.#end !== null)
      return [{ id: `${number}-end`, type: "end", data: JSON.stringify(this.#end) }];
    if (this.#chunks.size >= MAX_KEPT_CHUNKS) this.#chunks.clear();
    this.#chunks.set(position, chunk);
    return chunk;
  }

  async #readWhileChanged(): Promise<void> {
    while (this.#mustReadAgain) {
      this.#mustReadAgain = false;
      await this.#read();
    }
  }

  /** The status is read before the log, because a log is complete when its deployment has ended. */
  async #read(): Promise<void> {
    const end = await this.#readEnd();
    const body = await this.#deps.objects.get(LOG_BUCKET, this.#deployment.logKey);
    // The teardown of the app removes the log. What was read before stays readable.
    const stored = body === null ? this.#stored : new TextDecoder().decode(body);
    if (stored === this.#stored && end === null) return;
    if (stored !== this.#stored) this.#text = LogText.parse(stored);
    this.#stored = stored;
    this.#end = end;
    this.#chunks.clear();
    this.#changed.notify();
  }

  async #readEnd(): Promise<LogEnd | null> {
    const row = await this.#deps.db
      .selectFrom("deployments")
      .innerJoin("apps", "apps.id", "deployments.app_id")
      .select(["deployments.status", "deployments.status_message", "deployments.error", "apps.status as app_status"])
      .where("deployments.id", "=", this.#deployment.id)
      .executeTakeFirst();
    if (row === undefined || row.app_status === "deleting") return DELETED;
    const { app_status: _, ...end } = row;
    return isInProgress(end.status) ? null : end;
  }
}
