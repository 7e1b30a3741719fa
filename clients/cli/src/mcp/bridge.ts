import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { delay } from "../../../sdk/src/retries.ts";
import type { GatewayConnection, Reply } from "./gateway-connection.ts";
import { GatewayError } from "./gateway-error.ts";
import {
  ERROR,
  formatErrors,
  listRequestIds,
  listResponseIds,
  type Message,
  parseMessages,
  readField,
  type RequestId,
} from "./json-rpc.ts";
import { protocolHeaders, readModernVersion } from "./protocol-headers.ts";
import { readMessages } from "./read-events.ts";
import { readLines } from "./read-lines.ts";
import { follow } from "./subscription.ts";

/** The gateway accepts no larger message. In bytes. */
const MAX_MESSAGE = 4 * 1024 * 1024;
/** A message up to this size is read for its id, so that its error reaches the request. In bytes. */
const MAX_LINE = 32 * 1024 * 1024;
/** Requests at a time. The bridge reads the next message when one of them has ended. */
const MAX_REQUESTS = 100;
/** How long requests may continue after the client has closed standard input, in milliseconds. */
const GRACE_MS = 10_000;
/** How long a response may be silent, in milliseconds. */
const MAX_SILENCE_MS = 300_000;

const TOOLS_CHANGED = "notifications/tools/list_changed";
const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";

export interface BridgeOptions {
  connection: GatewayConnection;
  stdin: Readable;
  stdout: Writable;
  /** Writes a message for the user to standard error. */
  log(message: string): void;
  /** Ends the bridge. */
  signal: AbortSignal;
}

interface Outgoing {
  body: Buffer;
  message: Message | Message[];
  ids: RequestId[];
  headers: Record<string, string>;
  /** Aborted when the client cancels the request. */
  cancellation: AbortController;
}

/**
 * Relays MCP messages between a client on standard input and output and the tool gateway of the service, unchanged and in
 * every revision. What stdio and HTTP express differently is translated: a cancellation of revision 2026-07-28 ends the
 * HTTP request, and streams of notifications are opened again when they break off.
 */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #running = new Map<RequestId, Outgoing>();
  readonly #requests = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** Aborts every HTTP request. */
  readonly #ended: AbortSignal;
  /** What the response to `initialize` says, in the earlier revisions. */
  #version: string | null = null;
  #notifiesOfTools = false;
  #followsNotifications = false;
  /** Resolves when the client has read enough of the output. */
  #drained: Promise<unknown> | null = null;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#ended = AbortSignal.any([options.signal, this.#closing.signal]);
  }

  /** Relays messages until standard input ends or the signal aborts. */
  async run(): Promise<void> {
    const { stdin, signal } = this.#options;
    const stop = (): void => void stdin.destroy();
    signal.addEventListener("abort", stop, { once: true });
    try {
      for await (const line of readLines(stdin, MAX_LINE)) {
        await this.#accept(line);
        while (this.#requests.size >= MAX_REQUESTS) await Promise.race(this.#requests);
      }
      await Promise.race([Promise.all(this.#requests), delay(GRACE_MS, this.#ended)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#closing.abort();
    }
  }

  async #accept(line: Buffer | null): Promise<void> {
    const message = line === null ? null : parseMessages(line.toString());
    if (line === null || line.length > MAX_MESSAGE) {
      const ids = message === null ? [] : listRequestIds(message);
      return this.#writeError(ids, message, { code: ERROR.failed, message: "The message exceeds 4 MiB." });
    }
    if (message === null)
      return this.#writeError([], message, { code: ERROR.parse, message: "The line is not a JSON-RPC message." });
    const cancellation = new AbortController();
    const [first = {}] = [message].flat();
    const headers = protocolHeaders(first, this.#version);
    const request: Outgoing = { body: line, message, ids: listRequestIds(message), headers, cancellation };
    if (isCancellation(message) && this.#cancel(message)) return;
    for (const id of request.ids) this.#running.set(id, request);
    const end = (): void => {
      for (const id of request.ids) if (this.#running.get(id) === request) this.#running.delete(id);
      this.#requests.delete(ended);
    };
    // It fails only if its response cannot be written, because the bridge ends.
    const ended = this.#relay(request).then(end, end);
    // A subscription lasts until the client cancels it.
    if (!isSubscription(message)) this.#requests.add(ended);
  }

  /**
   * Ends the HTTP request of a cancelled request, by which the gateway stops it in every revision.
   *
   * @returns whether the message must not be sent, because revision 2026-07-28 has no such notification in HTTP
   */
  #cancel(message: Message): boolean {
    const request = this.#running.get(readField(message.params, "requestId") as RequestId);
    // The abort comes after the notification of the earlier revisions is sent.
    if (request !== undefined) setImmediate(() => request.cancellation.abort());
    return this.#version === null || (request !== undefined && isModern(request));
  }

  async #relay(request: Outgoing): Promise<void> {
    const { ids, message, cancellation } = request;
    const signal = AbortSignal.any([this.#ended, cancellation.signal]);
    const missing = new Set(ids);
    try {
      const reply = await this.#post(request, signal);
      if (isSubscription(message) && reply.kind === "stream") return await this.#subscribe(request, reply.body, signal);
      for await (const text of readReply(reply)) {
        signal.throwIfAborted();
        this.#readResponse(message, text, missing);
        await this.#write(text);
      }
      if (missing.size > 0) throw new Error("The service ended the connection without a response. Try again.");
      if (isNotification(message, "notifications/initialized")) void this.#followNotifications();
    } catch (error) {
      if (signal.aborted) return;
      if (ids.length === 0) return this.#options.log(describe(error));
      await this.#writeError([...missing], message, toRpcError(error, message));
    }
  }

  #post({ body, headers, message }: Outgoing, signal: AbortSignal): Promise<Reply> {
    const isSafe = [message].flat().every(({ method }) => method !== "tools/call");
    return this.#options.connection.post(body, headers, { isSafe, signal });
  }

  /** Notes which requests have their response, and what the response to `initialize` says. */
  #readResponse(message: Message | Message[], text: string, missing: Set<RequestId>): void {
    const received = parseMessages(text);
    if (received === null) throw new Error("The service sent a message that is not JSON. Check any proxy in between.");
    for (const id of listResponseIds(received)) missing.delete(id);
    if (!isRequest(message, "initialize")) return;
    const result = [received].flat()[0]?.result;
    const version = readField(result, "protocolVersion");
    if (typeof version === "string") this.#version = version;
    this.#notifiesOfTools = readField(readField(readField(result, "capabilities"), "tools"), "listChanged") === true;
  }

  /** Follows the stream on which the gateway sends notifications to clients of the earlier revisions. */
  async #followNotifications(): Promise<void> {
    const { connection, log } = this.#options;
    if (this.#followsNotifications) return;
    this.#followsNotifications = true;
    await follow({
      open: (signal) => connection.openStream(protocolHeaders({}, this.#version), signal),
      onMessage: (text) => this.#write(text),
      onReopened: async () => {
        if (this.#notifiesOfTools) await this.#write(JSON.stringify({ jsonrpc: "2.0", method: TOOLS_CHANGED }));
      },
      log,
      signal: this.#ended,
    });
  }

  /** Follows a subscription of revision 2026-07-28. The client does not notice when it is opened again. */
  async #subscribe(request: Outgoing, first: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
    const [id] = request.ids;
    let isAcknowledged = false;
    await follow({
      first,
      open: async () => {
        const reply = await this.#post(request, signal);
        if (reply.kind !== "stream") throw new Error("The gateway rejects the subscription.");
        return reply.body;
      },
      onMessage: async (text) => {
        const message = parseMessages(text);
        // The gateway ends a subscription with a response when it stops.
        if (message === null || listResponseIds(message).length > 0) return;
        const isAcknowledgement = isNotification(message, "notifications/subscriptions/acknowledged");
        if (!isAcknowledgement || !isAcknowledged) await this.#write(text);
        isAcknowledged ||= isAcknowledgement;
      },
      onReopened: async () => {
        const filter = readField(readField(request.message, "params"), "notifications");
        if (readField(filter, "toolsListChanged") !== true) return;
        const params = { _meta: { [SUBSCRIPTION_KEY]: id } };
        await this.#write(JSON.stringify({ jsonrpc: "2.0", method: TOOLS_CHANGED, params }));
      },
      log: this.#options.log,
      signal,
    });
  }

  #writeError(ids: RequestId[], message: Message | Message[] | null, error: ReturnType<typeof toRpcError>) {
    return this.#write(formatErrors(ids, Array.isArray(message) && ids.length > 0, error));
  }

  /** Writes a message as one line, and waits until the client has read enough. */
  async #write(text: string): Promise<void> {
    const { stdout } = this.#options;
    const line = /[\r\n]/.test(text) ? JSON.stringify(parseMessages(text)) : text;
    if (stdout.write(`${line}\n`)) return;
    this.#drained ??= once(stdout, "drain", { signal: this.#ended }).finally(() => {
      this.#drained = null;
    });
    await this.#drained;
  }
}

async function* readReply(reply: Reply): AsyncGenerator<string, void, undefined> {
  if (reply.kind === "json") yield reply.text;
  else if (reply.kind === "stream") yield* readMessages(reply.body, MAX_SILENCE_MS);
}

function toRpcError(error: unknown, message: Message | Message[] | null): { code: number; message: string } {
  if (!(error instanceof GatewayError)) return { code: ERROR.failed, message: describe(error) };
  const mayBeExecuted = error.status === null && error.repeat === "if safe" && isRequest(message, "tools/call");
  const explained = error.toRpcError();
  if (mayBeExecuted) explained.message += " The service may have executed the call: check before you repeat it.";
  return explained;
}

function describe(error: unknown): string {
  return (error as Error).message;
}

function isModern({ message }: Outgoing): boolean {
  return !Array.isArray(message) && readModernVersion(message) !== null;
}

function isRequest(message: Message | Message[] | null, method: string): boolean {
  return !Array.isArray(message) && message?.method === method;
}

function isNotification(message: Message | Message[], method: string): boolean {
  return isRequest(message, method) && !("id" in message);
}

function isCancellation(message: Message | Message[]): message is Message {
  return isNotification(message, "notifications/cancelled");
}

function isSubscription(message: Message | Message[]): boolean {
  return isRequest(message, "subscriptions/listen");
}
