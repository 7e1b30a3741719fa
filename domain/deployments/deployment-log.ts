import { LOG_BUCKET } from "../apps/app-resources.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { sanitizeLog } from "../shared/sanitize-log.ts";

/** A log keeps its first and its last half; a marker between them says how much is missing. In characters. */
const HALF = 512 * 1024;
const WRITE_EVERY_MS = 1000;
/** A longer line is split, so that the buffer of an unfinished line stays bounded. In characters. */
const LINE_LENGTH = 64 * 1024;

const SERVICE_PREFIX = "[service]";
/**
 * A line of the app that starts with the service's prefix, even after invisible characters. The repetition is bounded,
 * because the pattern also treats some of these characters as line breaks.
 */
const FORGED_PREFIX = /^[\t\p{Z}\p{DI}]{0,64}\[service\]/gmu;

/**
 * The log of one deployment. It is written to object storage while the deployment runs, so it survives the worker. A
 * later attempt appends to the log of the earlier one.
 */
export class DeploymentLog {
  readonly #objects: ObjectStore;
  readonly #key: string;
  readonly #secrets: readonly string[];
  readonly #decoder = new TextDecoder();
  #head = "";
  #tail = "";
  #droppedCharacters = 0;
  /** The beginning of a line whose end has not been printed yet. */
  #pending = "";
  #dirty = false;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;

  private constructor(objects: ObjectStore, key: string, secrets: readonly string[]) {
    this.#objects = objects;
    this.#key = key;
    this.#secrets = secrets;
  }

  /**
   * Opens a log.
   *
   * @param key - its key in the bucket of all logs
   * @param secrets - texts that are masked wherever they appear. The list may grow.
   */
  static async open(objects: ObjectStore, key: string, secrets: readonly string[]): Promise<DeploymentLog> {
    const log = new DeploymentLog(objects, key, secrets);
    const earlier = await objects.get(LOG_BUCKET, key);
    if (earlier !== null) log.#append(new TextDecoder().decode(earlier));
    log.#timer = setInterval(() => void log.#write(), WRITE_EVERY_MS);
    return log;
  }

  /** Appends output of a child process. */
  readonly output = (chunk: Uint8Array): void => {
    this.#appendOutput(this.#decoder.decode(chunk, { stream: true }));
  };

  /** Appends a line of the service, marked with a prefix. */
  say(line: string): void {
    this.#endLine();
    // The line may quote the app. A line break in the quote would start a line that looks like one of the service.
    const quoted = sanitizeLog(line, this.#secrets).replaceAll(/\s*\n\s*/g, " ");
    this.#append(`${SERVICE_PREFIX} ${quoted}\n`);
  }

  /** Writes everything appended so far. */
  async flush(): Promise<void> {
    this.#endLine();
    await this.#write();
  }

  /** Writes the rest. The log must not be used afterwards. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.flush();
  }

  #appendOutput(text: string): void {
    this.#pending += text;
    const end = this.#pending.lastIndexOf("\n") + 1;
    const cut = end > 0 ? end : this.#pending.length > LINE_LENGTH ? this.#pending.length : 0;
    if (cut === 0) return;
    // Whole lines are masked together, so a secret that arrives in two pieces is found too.
    const shown = sanitizeLog(this.#pending.slice(0, cut), this.#secrets);
    // A line that the build prints must not look like a line of the service.
    this.#append(shown.replace(FORGED_PREFIX, `> ${SERVICE_PREFIX}`));
    this.#pending = this.#pending.slice(cut);
  }

  #endLine(): void {
    this.#pending += this.#decoder.decode();
    if (this.#pending !== "") this.#appendOutput("\n");
  }

  #append(text: string): void {
    this.#dirty = true;
    const room = HALF - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(Math.max(room, 0));
    if (this.#tail.length <= HALF) return;
    this.#droppedCharacters += this.#tail.length - HALF;
    this.#tail = this.#tail.slice(-HALF);
  }

  #text(): string {
    const dropped = this.#droppedCharacters;
    const marker = dropped === 0 ? "" : `\n${SERVICE_PREFIX} ${dropped} characters left out here\n`;
    return this.#head + marker + this.#tail;
  }

  async #write(): Promise<void> {
    if (!this.#dirty) return this.#writing;
    this.#dirty = false;
    const body = new TextEncoder().encode(this.#text().toWellFormed());
    this.#writing = this.#writing
      .then(() => this.#objects.put(LOG_BUCKET, this.#key, body))
      // The next write stores what this one could not. A deployment never fails because of its log.
      .catch(() => {
        this.#dirty = true;
      });
    await this.#writing;
  }
}
