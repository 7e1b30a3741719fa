import type { Client, FetchLike } from "@modelcontextprotocol/client";
import type { IsolatedApp } from "../../ports/isolated-runtime.ts";
import { AppResponseError, type IsolatedResponse, requestApp } from "./request-app.ts";

const CLIENT_INFO = { name: "procedure-discovery", version: "1" };

/**
 * Bounds on one session. The handshake takes at most five requests and each page of tools one. But the client validates
 * every message it receives and replies to each ping, and one response has room for 100,000 pings.
 */
const MAX_REQUESTS = 60;
const MAX_MESSAGES = 100;

/** The app runs for a few seconds only, so a stream that ended is not opened again. */
const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
};

/** Statuses for which the fetch standard forbids a body. */
const STATUSES_WITHOUT_BODY = [204, 205, 304];

/** What a server selected when the client connected. */
export interface NegotiatedConnection {
  /** The protocol revision, such as `2025-06-18`. */
  revision: string | null;
  hasSession: boolean;
  /** Whether arguments of calls are repeated in `Mcp-Param-*` headers. */
  hasParameterHeaders: boolean;
}

/**
 * Connects to the MCP endpoint of an app, in the newest protocol revision that both sides support, and calls `use`.
 *
 * @returns `null` when nothing at `endpoint` completes the handshake
 * @throws {AppResponseError} when the app ends a connection early or breaks a bound
 */
export async function withMcpClient<T>(
  app: IsolatedApp,
  endpoint: string,
  signal: AbortSignal,
  use: (client: Client, connection: NegotiatedConnection) => Promise<T>,
): Promise<T | null> {
  // Imported on first use: it takes about 15 MB, and only apps that mention MCP need it.
  const mcp = await import("@modelcontextprotocol/client");
  const transport = new mcp.StreamableHTTPClientTransport(new URL(endpoint, "http://app.localhost"), {
    fetch: createFetch(app, endpoint, signal),
    reconnectionOptions: NO_RECONNECTION,
  });
  const client = new mcp.Client(CLIENT_INFO, { versionNegotiation: { mode: "auto" } });
  // A request stays pending when the id of its response is wrong. Closing the transport rejects it.
  const close = () => void transport.close();
  signal.addEventListener("abort", close);
  try {
    const failure = await client.connect(transport).catch((error: Error) => error);
    if (failure === undefined) {
      const revision = client.getNegotiatedProtocolVersion() ?? null;
      const hasParameterHeaders = client.getProtocolEra() === "modern";
      return await use(client, { revision, hasSession: transport.sessionId !== undefined, hasParameterHeaders });
    }
    signal.throwIfAborted();
    const cause = failure.cause ?? failure;
    if (cause instanceof AppResponseError) throw cause;
    return null;
  } finally {
    signal.removeEventListener("abort", close);
    await client.close();
  }
}

/** A `fetch` that reaches one path of the app only, through `requestApp`, and so within its bounds on size and time. */
function createFetch(app: IsolatedApp, path: string, signal: AbortSignal): FetchLike {
  let requests = 0;
  return async (_url, init = {}) => {
    // A GET opens a stream of messages that the app sends on its own. Discovery needs none of them.
    if (init.method !== "POST") return new Response(null, { status: 405 });
    requests += 1;
    if (requests > MAX_REQUESTS)
      throw new AppResponseError(`The app's MCP endpoint at ${path} needs more than ${MAX_REQUESTS} requests.`);
    const headers = Object.fromEntries(new Headers(init.headers));
    const response = await requestApp(app, { path, method: "POST", headers, body: init.body as string }, signal);
    if (countMessages(response) > MAX_MESSAGES)
      throw new AppResponseError(`The app's MCP endpoint at ${path} sends more than ${MAX_MESSAGES} messages at once.`);
    return toFetchResponse(response);
  };
}

/**
 * Counts the events of a stream. A JSON array is a batch. The client sends no batches, so a batch counts as too many
 * messages.
 */
function countMessages({ headers, text }: IsolatedResponse): number {
  const contentType = headers["content-type"] ?? "";
  if (/json/i.test(contentType)) return text.trimStart().startsWith("[") ? Infinity : 1;
  return /event-stream/i.test(contentType) ? (text.match(/(\r\n?|\n){2}/g)?.length ?? 0) : 1;
}

/** Passes on the headers that the client reads. The others, such as a redirect's location, must have no effect. */
function toFetchResponse({ status, headers, text }: IsolatedResponse): Response {
  const received = new Headers();
  for (const name of ["content-type", "mcp-session-id"]) {
    const value = [headers[name]].flat()[0];
    if (value !== undefined) received.set(name, value);
  }
  return new Response(STATUSES_WITHOUT_BODY.includes(status) ? null : text, { status, headers: received });
}
