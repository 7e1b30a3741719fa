import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";

/** Proxies close a connection on which nothing was sent for a minute. In milliseconds. */
const KEEP_ALIVE_MS = 25_000;
/** A client that reads more slowly misses notifications, which all say the same. In bytes. */
const MAX_BUFFERED = 4096;

/** The path to which clients of the HTTP+SSE transport send their messages. */
export const HTTP_SSE_PATH = "/mcp/messages";

const COMMENT = ": keep-alive\n\n";
/**
 * A client of the HTTP+SSE transport of 2024-11-05 waits without a limit for this event, and sends its messages to the path.
 * The response tells it to use Streamable HTTP. Clients of Streamable HTTP ignore the event.
 */
const ENDPOINT = `event: endpoint\ndata: ${HTTP_SSE_PATH}\n\n`;
const TOOLS_CHANGED = `event: message\ndata: ${JSON.stringify({
  jsonrpc: "2.0",
  method: "notifications/tools/list_changed",
})}\n\n`;

/**
 * The streams of `GET /mcp`, on which clients of the earlier revisions receive notifications. They have no session and are
 * not resumable: a client lists the tools after it has connected again. Clients of 2026-07-28 subscribe with a POST instead.
 */
export class NotificationStreams {
  readonly #streamsByOrgId = new Map<string, Set<Readable>>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor() {
    this.#timer = setInterval(() => this.#sendToAll(COMMENT), KEEP_ALIVE_MS).unref();
  }

  /**
   * Opens a stream of an organization; `null` after `close`. Destroy it to end it.
   *
   * @param protocolVersion - of the request; clients of 2025-03-26 and of the HTTP+SSE transport send none
   */
  open(orgId: string, protocolVersion?: string | string[]): Readable | null {
    if (this.#isClosed) return null;
    const streams = this.#streamsByOrgId.get(orgId) ?? new Set();
    const stream = new Readable({ read() {} });
    this.#streamsByOrgId.set(orgId, streams.add(stream));
    stream.once("close", () => {
      streams.delete(stream);
      if (streams.size === 0) this.#streamsByOrgId.delete(orgId);
    });
    // The client gets the headers of the response with the first bytes of the body.
    stream.push(protocolVersion === undefined ? ENDPOINT : COMMENT);
    return stream;
  }

  /** Notifies an organization's clients that the list of tools may have changed. */
  notifyToolsChanged(orgId: string): void {
    for (const stream of this.#streamsByOrgId.get(orgId) ?? []) send(stream, TOOLS_CHANGED);
  }

  /** Notifies the clients of every organization, after a time in which changes may have been missed. */
  notifyAll(): void {
    this.#sendToAll(TOOLS_CHANGED);
  }

  /** Ends all streams. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const streams of this.#streamsByOrgId.values()) for (const stream of streams) stream.push(null);
  }

  #sendToAll(text: string): void {
    for (const streams of this.#streamsByOrgId.values()) for (const stream of streams) send(stream, text);
  }
}

function send(stream: Readable, text: string): void {
  if (stream.readableLength < MAX_BUFFERED) stream.push(text);
}

/** Whether a GET asks for a stream of notifications, as the revisions before 2026-07-28 define it. */
export function wantsNotificationStream({ accept, ...headers }: IncomingHttpHeaders): boolean {
  const version = headers["mcp-protocol-version"];
  const isEarlier = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(version));
  return isEarlier && accept?.includes("text/event-stream") === true;
}
