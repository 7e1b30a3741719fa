import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { decodeError, type EncodedError } from "./edge-errors.ts";
import { sharedKeyTls } from "./shared-key-tls.ts";

interface EdgeClientOptions {
  /** The internal port of the edge: `https://host:port`. */
  url: string;
  tokenSecret: string;
  /** How long a call waits for an edge that cannot be reached, such as one that restarts, in milliseconds. */
  patienceMs?: number;
}

const PATIENCE_MS = 20_000;
const RETRY_MS = 200;
const UNREACHABLE = "The edge that runs the apps cannot be reached. Try again in a few seconds.";

/** The connection broke before a response arrived: the edge may have done the work or not. */
class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** Calls the edge of another process. All its calls are safe to repeat, so one is repeated when the connection is lost. */
export class EdgeClient implements Disposable {
  readonly #url: URL;
  readonly #agent: https.Agent;
  readonly #patienceMs: number;

  constructor({ url, tokenSecret, patienceMs = PATIENCE_MS }: EdgeClientOptions) {
    this.#url = new URL(url);
    this.#agent = new https.Agent({ keepAlive: true, ...sharedKeyTls(tokenSecret).client });
    this.#patienceMs = patienceMs;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  /**
   * @param args - an `AbortSignal` as the last one ends the call
   * @throws what the port throws, or {ServiceError} `unavailable` when the edge cannot be reached
   */
  async call(path: string, args: readonly unknown[]): Promise<unknown> {
    const last = args.at(-1);
    const signal = last instanceof AbortSignal ? last : null;
    const sent = JSON.stringify(signal === null ? args : args.slice(0, -1));
    return this.send(path, () => Readable.from([sent], { objectMode: false }), signal);
  }

  /** Sends a body, which is created again for each attempt. */
  async send(path: string, createBody: () => Readable, signal: AbortSignal | null): Promise<unknown> {
    const deadline = performance.now() + this.#patienceMs;
    for (;;)
      try {
        const response = await this.#open(path, createBody(), signal);
        return readResult(await readText(response));
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof ConnectionLost)) throw error;
        if (performance.now() > deadline) throw new ServiceError("unavailable", UNREACHABLE, { cause: error });
        await delay(RETRY_MS, undefined, signal === null ? {} : { signal });
      }
  }

  /** Opens a response that has a line for each event, and has begun. It ends when `signal` is aborted or the connection is lost. */
  async openLines(path: string, body: object, signal: AbortSignal): Promise<AsyncIterable<string>> {
    const response = await this.#open(path, Readable.from([JSON.stringify(body)], { objectMode: false }), signal);
    return createInterface({ input: response, signal });
  }

  async #open(path: string, body: Readable, signal: AbortSignal | null): Promise<IncomingMessage> {
    const { hostname: host, port } = this.#url;
    const options = { agent: this.#agent, host, port, path, method: "POST", ...(signal !== null && { signal }) };
    const request = https.request(options);
    const responding = once(request, "response") as Promise<[IncomingMessage]>;
    try {
      // A server that responds before it has the whole body ends the body.
      const sending = pipeline(body, request);
      sending.catch(() => undefined);
      const [response] = await responding;
      return response;
    } catch (cause) {
      throw new ConnectionLost("the connection to the edge was lost", { cause });
    }
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  try {
    return (await response.toArray()).join("");
  } catch (cause) {
    throw new ConnectionLost("the connection to the edge was lost", { cause });
  }
}

function readResult(text: string): unknown {
  const { value, error } = JSON.parse(text) as { value?: unknown; error?: EncodedError };
  if (error !== undefined) throw decodeError(error);
  return value;
}
