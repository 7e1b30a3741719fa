import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { limitConnectTime } from "../../http/connect-timeout.ts";
import { decodeError, type EncodedError } from "./edge-errors.ts";
import { sharedKeyTls } from "./shared-key-tls.ts";

/** The edge sends something every 5 seconds, so its machine, or the network, has failed. */
const SILENCE_MS = 20_000;

/** The connection broke before a response arrived: the edge may have done the work or not. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** The connections to one edge. */
export class EdgeConnection implements Disposable {
  readonly host: string;
  readonly #port: string;
  readonly #agent: https.Agent;

  /** @param url - the internal port of the edge: `https://host:port` */
  constructor(url: string, tokenSecret: string) {
    const { hostname, port } = new URL(url);
    // An IPv6 address has brackets only in a URL.
    this.host = hostname.replace(/^\[(.*)\]$/, "$1");
    this.#port = port;
    this.#agent = new https.Agent({ keepAlive: true, ...sharedKeyTls(tokenSecret).client });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  /** Calls a method. @throws {ConnectionLost}, or what the port throws */
  call(path: string, args: readonly unknown[], signal: AbortSignal | null = null): Promise<unknown> {
    return this.send(path, jsonBody(args), signal);
  }

  /** Sends a body. @throws as `call` */
  async send(path: string, body: Readable, signal: AbortSignal | null): Promise<unknown> {
    const response = await this.#open(path, body, signal);
    return readResult(await readText(response));
  }

  /**
   * Opens a response that has a line for each event, and has begun. It ends when `signal` is aborted or the connection is lost.
   *
   * @throws {ConnectionLost}
   */
  async openLines(path: string, body: object, signal: AbortSignal): Promise<AsyncIterable<string>> {
    const response = await this.#open(path, jsonBody(body), signal);
    // Lines that arrive before there is an iterator would be lost.
    return createInterface({ input: response, signal })[Symbol.asyncIterator]();
  }

  /**
   * Calls a method whose result is a body. Destroying the response ends the work of the edge. Reads of it have no time limit.
   *
   * @throws as `call`
   */
  async openBody(path: string, args: readonly unknown[], signal: AbortSignal | null): Promise<IncomingMessage> {
    const response = await this.#open(path, jsonBody(args), signal);
    if (response.statusCode !== 200) readResult(await readText(response));
    response.setTimeout(0);
    return response;
  }

  async #open(path: string, body: Readable, signal: AbortSignal | null): Promise<IncomingMessage> {
    const target = { agent: this.#agent, host: this.host, port: this.#port, path, method: "POST" };
    const request = https.request({ ...target, timeout: SILENCE_MS, ...(signal !== null && { signal }) });
    request.once("timeout", () => request.destroy(new Error("the edge sends nothing any more")));
    limitConnectTime(request);
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

function jsonBody(value: unknown): Readable {
  return Readable.from([JSON.stringify(value)], { objectMode: false });
}

async function readText(response: IncomingMessage): Promise<string> {
  try {
    return (await response.setEncoding("utf8").toArray()).join("");
  } catch (cause) {
    throw new ConnectionLost("the connection to the edge was lost", { cause });
  }
}

function readResult(text: string): unknown {
  const { value, error } = JSON.parse(text) as { value?: unknown; error?: EncodedError };
  if (error !== undefined) throw decodeError(error);
  return value;
}
