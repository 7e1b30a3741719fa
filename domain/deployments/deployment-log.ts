import { LOG_BUCKET } from "../apps/app-resources.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { markForgedLines, SERVICE_PREFIX } from "../shared/log-line-prefix.ts";
import { sanitizeLog } from "../shared/sanitize-log.ts";
import { LogText } from "./log-text.ts";

/** How soon a change is written, so that readers see it at once and many small changes become one write. */
const WRITE_DELAY_MS = 100;
const RETRY_MS = 1000;
/** A longer line is split, so that the buffer of an unfinished line stays bounded. In characters. */
const LINE_LENGTH = 64 * 1024;

export interface DeploymentLogOptions {
  objects: ObjectStore;
  /** Its key in the bucket of all logs. */
  key: string;
  /** Texts that are masked wherever they appear. The list may grow. */
  secrets: readonly string[];
  /** Called each time a change is stored, so that readers can read it. */
  onStored: () => void;
}

/**
 * The log of one deployment. It is written to object storage while the deployment runs, so it survives the worker. A
 * later attempt appends to the log of the earlier one.
 */
export class DeploymentLog {
  readonly #options: DeploymentLogOptions;
  readonly #decoder = new TextDecoder();
  #text = new LogText();
  /** The beginning of a line whose end has not been printed yet. */
  #pending = "";
  #dirty = false;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  /** How long the last write took, in milliseconds. The next one waits as long, so a slow store gets fewer writes. */
  #writeMs = 0;
  #isClosed = false;
  #isAbandoned = false;

  private constructor(options: DeploymentLogOptions) {
    this.#options = options;
  }

  static async open(options: DeploymentLogOptions): Promise<DeploymentLog> {
    const log = new DeploymentLog(options);
    const earlier = await options.objects.get(LOG_BUCKET, options.key);
    if (earlier !== null) log.#text = LogText.parse(new TextDecoder().decode(earlier));
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
    const quoted = sanitizeLog(line, this.#options.secrets).replaceAll(/(?<!\s)\s*\n\s*/g, " ");
    this.#append(`${SERVICE_PREFIX} ${quoted}\n`);
  }

  /** Writes everything appended so far. */
  async flush(): Promise<void> {
    this.#endLine();
    await this.#write();
  }

  /** Writes nothing more, because another worker has opened the log. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** Writes the rest. The log must not be used afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  #appendOutput(text: string): void {
    this.#pending += text;
    const end = this.#pending.lastIndexOf("\n") + 1;
    const cut = end > 0 ? end : this.#splitPosition();
    if (cut === 0) return;
    // Whole lines are masked together, so a secret that arrives in two pieces is found too.
    const shown = sanitizeLog(this.#pending.slice(0, cut), this.#options.secrets);
    // A line that the build prints must not look like a line of the service.
    this.#append(markForgedLines(shown));
    this.#pending = this.#pending.slice(cut);
  }

  /** Returns where to split a line that is too long; 0 for one that is not. */
  #splitPosition(): number {
    const { secrets } = this.#options;
    if (this.#pending.length <= LINE_LENGTH) return 0;
    // Otherwise the split could be inside a secret.
    this.#pending = sanitizeLog(this.#pending, secrets);
    const longest = Math.max(1, ...secrets.map((secret) => secret.length));
    return Math.max(0, this.#pending.length - Math.min(longest - 1, LINE_LENGTH / 2));
  }

  #endLine(): void {
    this.#pending += this.#decoder.decode();
    if (this.#pending !== "") this.#appendOutput("\n");
  }

  #append(text: string): void {
    this.#text.append(text);
    this.#dirty = true;
    this.#scheduleWrite(Math.max(WRITE_DELAY_MS, this.#writeMs));
  }

  #scheduleWrite(delayMs: number): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => void this.#write(), delayMs);
  }

  async #write(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (!this.#dirty || this.#isAbandoned) return this.#writing;
    this.#dirty = false;
    const body = new TextEncoder().encode(this.#text.toString().toWellFormed());
    this.#writing = this.#writing.then(() => this.#store(body));
    await this.#writing;
  }

  async #store(body: Uint8Array): Promise<void> {
    const startedAt = performance.now();
    try {
      await this.#options.objects.put(LOG_BUCKET, this.#options.key, body);
      this.#writeMs = performance.now() - startedAt;
      this.#options.onStored();
    } catch {
      // The next write stores what this one could not. A deployment never fails because of its log.
      this.#dirty = true;
      this.#scheduleWrite(RETRY_MS);
    }
  }
}
