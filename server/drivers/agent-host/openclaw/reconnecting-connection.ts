import { AgentHostError } from "../../../../domain/ports/agent-host.ts";
import { type BackOff, backOffMs } from "../../../../domain/shared/back-off.ts";
import { raceWithSignal } from "../../../../domain/shared/race-with-signal.ts";
import type { GatewayConnection } from "./gateway-connection.ts";

/** How long to wait before the next attempt to connect, in milliseconds. The wait doubles with each failed attempt. */
export interface ReconnectBackOff extends BackOff {
  /** A connection that has lasted this long counts as a success: after it, the next attempt follows at once. */
  stable: number;
}

export interface ReconnectingConnectionOptions {
  /** @param failedAttempts - the number of attempts that have failed in a row */
  connect(failedAttempts: number, signal: AbortSignal): Promise<GatewayConnection>;
  backOff: ReconnectBackOff;
  /** Called with an unexpected error, which is no `AgentHostError`. */
  report(error: unknown): void;
}

/**
 * A connection that is opened again when it is lost, with exponential back-off and jitter. While the last attempt has failed,
 * calls fail at once with its error instead of waiting for the next one.
 */
export class ReconnectingConnection implements Disposable {
  readonly #options: ReconnectingConnectionOptions;
  readonly #closing = new AbortController();
  #attempt: Promise<GatewayConnection>;
  #isOpen = false;
  #problem: AgentHostError | null = null;
  #failedAttempts = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ReconnectingConnectionOptions) {
    this.#options = options;
    this.#attempt = this.#connect();
  }

  /** Why there is no connection; `"connecting"` before the first result, and `null` while there is one. */
  get problem(): AgentHostError | "connecting" | null {
    return this.#isOpen ? null : (this.#problem ?? "connecting");
  }

  /** Returns the connection. Waits for it while the gateway has not failed, and throws the reason of the signal after that. */
  async get(signal: AbortSignal): Promise<GatewayConnection> {
    signal.throwIfAborted();
    if (this.#problem !== null) throw this.#problem;
    return raceWithSignal(this.#attempt, signal);
  }

  /** Closes the connection for good. */
  [Symbol.dispose](): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#problem = new AgentHostError("unreachable", "The connection was closed.");
    this.#isOpen = false;
    this.#closing.abort(this.#problem);
    this.#attempt.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }

  #connect(): Promise<GatewayConnection> {
    const attempt = this.#options.connect(this.#failedAttempts, this.#closing.signal);
    attempt.then(
      (connection) => this.#use(connection),
      (error: unknown) => this.#retry(error),
    );
    return attempt;
  }

  #use(connection: GatewayConnection): void {
    this.#isOpen = true;
    this.#problem = null;
    const openedAt = performance.now();
    connection.ended.then(
      (error) => this.#reopen(error, performance.now() - openedAt),
      (error: unknown) => this.#retry(error),
    );
  }

  #reopen(error: AgentHostError, lastedMs: number): void {
    this.#isOpen = false;
    const isStable = lastedMs >= this.#options.backOff.stable;
    if (isStable) this.#failedAttempts = 0;
    // A gateway that restarts can be back at once, so calls wait for the first attempt. One that misbehaves gets a pause.
    if (isStable && error.code === "unreachable") this.#reconnect();
    else this.#retry(error);
  }

  #retry(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#problem = this.#toProblem(error);
    const pause = backOffMs(this.#failedAttempts, this.#options.backOff);
    this.#failedAttempts += 1;
    // Between half and all of the pause, so that many gateways behind one failed network are not tried at the same moment.
    this.#timer = setTimeout(() => this.#reconnect(), pause * (0.5 + Math.random() / 2)).unref();
  }

  #reconnect(): void {
    if (this.#closing.signal.aborted) return;
    this.#attempt = this.#connect();
  }

  #toProblem(error: unknown): AgentHostError {
    if (error instanceof AgentHostError) return error;
    this.#options.report(error);
    return new AgentHostError("unreachable", "The gateway cannot be reached.", { cause: error });
  }
}
