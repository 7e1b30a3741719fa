import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { ConnectionLost, EdgeConnection } from "./edge-connection.ts";
import { INSTALLATION_PATH } from "./edge-methods.ts";

interface EdgeClientOptions {
  /** The internal ports of the edges: `https://host:port`. The first is preferred until it cannot be reached. */
  urls: readonly string[];
  tokenSecret: string;
  /** How long a call waits while no edge can be reached, such as during a restart, in milliseconds. */
  patienceMs?: number;
}

const PATIENCE_MS = 20_000;
const RETRY_MS = 200;
/** An edge that starts may run an app for a moment before it serves its internal port. */
const GRACE_MS = 3000;
const UNREACHABLE = "The edge that runs the apps cannot be reached. Try again in a few seconds.";

/**
 * Calls the edges, which are other processes. All calls are safe to repeat, so one is repeated when the connection is lost, on the
 * next edge if there are several. All calls prefer the edge that responded last: what it has changed, the other edges notice a
 * second later.
 */
export class EdgeClient implements Disposable {
  readonly edges: readonly EdgeConnection[];
  #preferred = 0;
  readonly #patienceMs: number;

  constructor({ urls, tokenSecret, patienceMs = PATIENCE_MS }: EdgeClientOptions) {
    this.edges = urls.map((url) => new EdgeConnection(url, tokenSecret));
    this.#patienceMs = patienceMs;
  }

  [Symbol.dispose](): void {
    for (const edge of this.edges) edge[Symbol.dispose]();
  }

  /** The host of the edge that responded last. */
  get host(): string {
    return this.edges[this.#preferred]?.host ?? "";
  }

  /** Prefers the next edge, if the preferred one is at `host`, which cannot be reached. */
  avoid(host: string): void {
    if (this.host === host) this.#preferred = (this.#preferred + 1) % this.edges.length;
  }

  /**
   * Calls a method on one edge.
   *
   * @param args - an `AbortSignal` as the last one ends the call
   * @throws what the port throws, or {ServiceError} `unavailable` when no edge can be reached
   */
  call(path: string, args: readonly unknown[]): Promise<unknown> {
    const { sent, signal } = splitSignal(args);
    return this.#waitForEdge(() => this.#tryInOrder((edge) => edge.call(path, sent, signal), signal), signal);
  }

  /** Sends a body, which is created again for each attempt, to one edge. @throws as `call` */
  send(path: string, createBody: () => Readable, signal: AbortSignal | null): Promise<unknown> {
    return this.#waitForEdge(() => this.#tryInOrder((edge) => edge.send(path, createBody(), signal), signal), signal);
  }

  /** Calls a method of one edge whose result is a body. @throws as `call` until the body begins */
  open(path: string, args: readonly unknown[]): Promise<IncomingMessage> {
    const { sent, signal } = splitSignal(args);
    const open = (edge: EdgeConnection) => edge.openBody(path, sent, signal);
    return this.#waitForEdge(() => this.#tryInOrder(open, signal), signal);
  }

  /** Calls a method on every edge. @returns the results of those that could be reached, at least one. @throws as `call` */
  callAll(path: string, args: readonly unknown[]): Promise<Map<EdgeConnection, unknown>> {
    const { signal } = splitSignal(args);
    const graceMs = Math.min(GRACE_MS, this.#patienceMs);
    return this.#waitForEdge(async () => requireOne(await this.#tryAll(path, args, this.edges, graceMs)), signal);
  }

  /** As `callAll`, but does not wait for an edge while another one can be reached. */
  callReachable(path: string, args: readonly unknown[]): Promise<Map<EdgeConnection, unknown>> {
    const { signal } = splitSignal(args);
    return this.#waitForEdge(async () => requireOne(await this.#tryAll(path, args, this.edges)), signal);
  }

  /** Calls a method on some edges. @returns the results of those that can be reached now; there may be none. @throws what the port throws */
  callSome(
    edges: Iterable<EdgeConnection>,
    path: string,
    args: readonly unknown[],
  ): Promise<Map<EdgeConnection, unknown>> {
    return this.#tryAll(path, args, [...edges]);
  }

  /** Resolves when an edge responds; rejects when none can be reached now. */
  async check(): Promise<void> {
    const ask = async (edge: EdgeConnection): Promise<void> => {
      try {
        await edge.call(INSTALLATION_PATH, []);
      } catch (error) {
        this.avoid(edge.host);
        throw error;
      }
    };
    await Promise.any(this.edges.map(ask));
  }

  /** Tries each edge once, the preferred one first. */
  async #tryInOrder<T>(send: (edge: EdgeConnection) => Promise<T>, signal: AbortSignal | null): Promise<T> {
    const first = this.#preferred;
    let lost: unknown;
    for (let step = 0; step < this.edges.length; step++) {
      const index = (first + step) % this.edges.length;
      const edge = this.edges[index];
      if (edge === undefined) break;
      try {
        const value = await send(edge);
        this.#preferred = index;
        return value;
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof ConnectionLost)) {
          this.#preferred = index;
          throw error;
        }
        lost = error;
      }
    }
    throw lost;
  }

  async #tryAll(
    path: string,
    args: readonly unknown[],
    edges: readonly EdgeConnection[],
    patienceMs = 0,
  ): Promise<Map<EdgeConnection, unknown>> {
    const { sent, signal } = splitSignal(args);
    const call = (edge: EdgeConnection) => repeat(() => edge.call(path, sent, signal), patienceMs, signal);
    // All have ended before an error is thrown, so that a repetition does not meet calls of before.
    const results = await Promise.allSettled(edges.map(call));
    signal?.throwIfAborted();
    const values = new Map<EdgeConnection, unknown>();
    for (const [index, result] of results.entries()) {
      const edge = edges[index];
      if (result.status === "rejected" && !(result.reason instanceof ConnectionLost)) throw result.reason;
      if (result.status === "fulfilled" && edge !== undefined) values.set(edge, result.value);
    }
    return values;
  }

  async #waitForEdge<T>(attempt: () => Promise<T>, signal: AbortSignal | null): Promise<T> {
    try {
      return await repeat(attempt, this.#patienceMs, signal);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      throw new ServiceError("unavailable", UNREACHABLE, { cause: error });
    }
  }
}

/**
 * Repeats an attempt for as long as its connection is lost. The time begins with the first loss, so that a call that ran for
 * minutes is repeated too.
 */
async function repeat<T>(attempt: () => Promise<T>, patienceMs: number, signal: AbortSignal | null): Promise<T> {
  let deadline: number | null = null;
  for (;;)
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      deadline ??= performance.now() + patienceMs;
      if (!(error instanceof ConnectionLost) || performance.now() >= deadline) throw error;
      await delay(RETRY_MS, undefined, signal === null ? {} : { signal });
    }
}

function requireOne<T>(results: Map<EdgeConnection, T>): Map<EdgeConnection, T> {
  if (results.size === 0) throw new ConnectionLost("no edge can be reached");
  return results;
}

function splitSignal(args: readonly unknown[]): { sent: readonly unknown[]; signal: AbortSignal | null } {
  const last = args.at(-1);
  return last instanceof AbortSignal ? { sent: args.slice(0, -1), signal: last } : { sent: args, signal: null };
}
