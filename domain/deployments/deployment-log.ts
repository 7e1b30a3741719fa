import { LOG_BUCKET, logKeyOf } from "../apps/app-resources.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { sanitizeLog } from "./sanitize-log.ts";

/** A log keeps its first and its last half; what was dropped between them is said. In characters. */
const HALF = 512 * 1024;
const WRITE_EVERY_MS = 1000;
/** A line without an end is cut here, so that it cannot be kept waiting for its end forever. In characters. */
const LINE_LENGTH = 64 * 1024;

const OURS = "[service]";
/** Also behind what shows as nothing. Bounded, because some of that counts as a line break here. */
const FORGED = /^[\t\p{Z}\p{DI}]{0,64}\[service\]/gmu;

/**
 * One app's build log. It is written through to object storage while the build runs, so it survives the worker, and an
 * attempt that follows adds to what the earlier one left.
 */
export class DeploymentLog {
  readonly #objects: ObjectStore;
  readonly #key: string;
  readonly #secrets: readonly string[];
  readonly #decoder = new TextDecoder();
  #head = "";
  #tail = "";
  #dropped = 0;
  #pending = "";
  #dirty = false;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;

  private constructor(objects: ObjectStore, key: string, secrets: readonly string[]) {
    this.#objects = objects;
    this.#key = key;
    this.#secrets = secrets;
  }

  /** Opens the log of an app. `secrets` are masked wherever they appear. */
  static async open(objects: ObjectStore, appId: string, secrets: readonly string[]): Promise<DeploymentLog> {
    const log = new DeploymentLog(objects, logKeyOf(appId), secrets);
    const earlier = await objects.get(LOG_BUCKET, log.#key);
    if (earlier !== null) log.#append(new TextDecoder().decode(earlier));
    log.#timer = setInterval(() => void log.#write(), WRITE_EVERY_MS);
    return log;
  }

  /** Takes output of a child process as it comes. */
  readonly output = (chunk: Uint8Array): void => {
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  };

  /** Adds a line of the service's own. */
  say(line: string): void {
    this.#endLine();
    // What is told may quote the app, whose own line breaks would start a line that looks like ours.
    const quoted = sanitizeLog(line, this.#secrets).replaceAll(/\s*\n\s*/g, " ");
    this.#append(`${OURS} ${quoted}\n`);
  }

  /** Writes everything said so far. */
  async flush(): Promise<void> {
    this.#endLine();
    await this.#write();
  }

  /** Writes what is left. The log may not be used afterwards. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.flush();
  }

  #take(text: string): void {
    this.#pending += text;
    const end = this.#pending.lastIndexOf("\n") + 1;
    const cut = end > 0 ? end : this.#pending.length > LINE_LENGTH ? this.#pending.length : 0;
    if (cut === 0) return;
    // Whole lines are masked at once, so a secret that arrives in two pieces is still found.
    const shown = sanitizeLog(this.#pending.slice(0, cut), this.#secrets);
    // What a build prints must not pass for a line of the service's own.
    this.#append(shown.replace(FORGED, `> ${OURS}`));
    this.#pending = this.#pending.slice(cut);
  }

  #endLine(): void {
    this.#pending += this.#decoder.decode();
    if (this.#pending !== "") this.#take("\n");
  }

  #append(text: string): void {
    this.#dirty = true;
    const room = HALF - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(Math.max(room, 0));
    if (this.#tail.length <= HALF) return;
    this.#dropped += this.#tail.length - HALF;
    this.#tail = this.#tail.slice(-HALF);
  }

  #text(): string {
    const marker = this.#dropped === 0 ? "" : `\n[service] ${this.#dropped} characters left out here\n`;
    return this.#head + marker + this.#tail;
  }

  async #write(): Promise<void> {
    if (!this.#dirty) return this.#writing;
    this.#dirty = false;
    const body = new TextEncoder().encode(this.#text().toWellFormed());
    this.#writing = this.#writing
      .then(() => this.#objects.put(LOG_BUCKET, this.#key, body))
      // A write that fails is made up for by the next one; the log is not worth a build.
      .catch(() => {
        this.#dirty = true;
      });
    await this.#writing;
  }
}
