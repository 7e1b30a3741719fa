import type { ClientMetadataFetcher } from "../ports/client-metadata.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface InternetReachabilityOptions {
  fetcher: Pick<ClientMetadataFetcher, "canReachInternet">;
  log: Pick<Logger, "info">;
  /** How long a result is used, in milliseconds. */
  intervals?: { reachableMs: number; unreachableMs: number };
}

/** A network that was just connected is found soon; a working one is rarely checked. */
const INTERVALS = { reachableMs: 600_000, unreachableMs: 60_000 };

/** Checks at the start and from time to time whether the service can reach the internet. */
export class InternetReachability implements Disposable {
  readonly #options: InternetReachabilityOptions;
  readonly #stopping = new AbortController();
  readonly #firstCheck: Promise<void>;
  #isReachable: boolean | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: InternetReachabilityOptions) {
    this.#options = options;
    this.#firstCheck = this.#check();
  }

  /** The latest result; `false` before the first check has ended. */
  get isReachable(): boolean {
    return this.#isReachable === true;
  }

  /** Resolves when the first check has ended. */
  untilKnown(): Promise<void> {
    return this.#firstCheck;
  }

  [Symbol.dispose](): void {
    this.#stopping.abort();
    clearTimeout(this.#timer);
  }

  async #check(): Promise<void> {
    const { fetcher, log, intervals = INTERVALS } = this.#options;
    const isReachable = await fetcher.canReachInternet(this.#stopping.signal);
    if (this.#stopping.signal.aborted) return;
    if (isReachable !== (this.#isReachable ?? true)) log.info(isReachable ? REACHABLE : UNREACHABLE);
    this.#isReachable = isReachable;
    const delayMs = isReachable ? intervals.reachableMs : intervals.unreachableMs;
    this.#timer = setTimeout(() => void this.#check(), delayMs).unref();
  }
}

const REACHABLE = "the internet can be reached: OAuth clients may use metadata documents";
const UNREACHABLE = "the internet cannot be reached: OAuth clients register instead of using metadata documents";
