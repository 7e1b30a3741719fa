import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { AppCallFailed } from "../../../domain/ports/app-caller.ts";
import { readMessages, type ReceivedMessage, type RpcResponse } from "./mcp-messages.ts";
import {
  type AppAddress,
  limitEdgeConnectTime,
  MAX_RESPONSE_BYTES,
  toAppCallFailed,
  toCallInProgress,
} from "./send-app-request.ts";

/** The MCP endpoint of one app, and the headers of every request to it. */
export interface McpEndpoint {
  address: AppAddress;
  path: string;
  headers: Readonly<Record<string, string>>;
}

export interface McpRequest {
  method: string;
  params: Record<string, unknown>;
  headers: Readonly<Record<string, string>>;
}

export interface McpReply {
  status: number;
  /** `null` when the body has no JSON-RPC response. */
  response: RpcResponse | null;
  /** A session id is only assigned in the response to `initialize`. */
  sessionId: string | null;
  /** The body, unless it was an event stream. */
  text: string;
}

/**
 * Sends one JSON-RPC request and reads until its response arrives. Notifications are ignored. A `ping` of the server is
 * answered. A stream that the server ends early is resumed where it ended, if the server numbers its events.
 *
 * @throws {AppCallFailed} also when the server sends a request of its own, because nobody can respond to it during one call
 */
export async function requestMcp(endpoint: McpEndpoint, request: McpRequest, signal: AbortSignal): Promise<McpReply> {
  // Servers that share one transport tell the requests of all their clients apart by this id.
  const id = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  const { method, params, headers } = request;
  const message = { jsonrpc: "2.0", id, method, params };
  try {
    const response = await post(endpoint, message, headers, signal);
    const reply = { status: response.statusCode ?? 0, sessionId: readSessionId(response), text: "" };
    if (!isEventStream(response)) {
      const text = await readText(response);
      return { ...reply, text, response: findResponse(readMessages(text, id)) };
    }
    const answer = (pingId: string | number): void => {
      const pong = { jsonrpc: "2.0", id: pingId, result: {} };
      void post(endpoint, pong, headers, signal).then(discard, () => undefined);
    };
    const resume = (lastEventId: string) =>
      open(endpoint, { method: "GET", headers: { ...headers, accept: EVENTS, "last-event-id": lastEventId }, signal });
    return { ...reply, response: await readStreams(response, { id, answer, resume, signal }) };
  } catch (error) {
    throw toAppCallFailed(error as Error);
  }
}

/**
 * Sends a notification. Its response has no content.
 *
 * @throws {AppCallFailed}
 */
export async function notifyMcp(
  endpoint: McpEndpoint,
  { method, headers }: Omit<McpRequest, "params">,
  signal: AbortSignal,
): Promise<void> {
  try {
    discard(await post(endpoint, { jsonrpc: "2.0", method }, headers, signal));
  } catch (error) {
    throw toAppCallFailed(error as Error);
  }
}

const EVENTS = "text/event-stream";

function isEventStream({ headers }: IncomingMessage): boolean {
  return headers["content-type"]?.toLowerCase().startsWith(EVENTS) === true;
}

function readSessionId({ headers }: IncomingMessage): string | null {
  return [headers["mcp-session-id"]].flat()[0] ?? null;
}

function discard(response: IncomingMessage): void {
  response.on("error", () => undefined).destroy();
}

function post(
  endpoint: McpEndpoint,
  message: object,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const types = { "content-type": "application/json", accept: `application/json, ${EVENTS}` };
  return open(endpoint, { method: "POST", headers: { ...types, ...headers }, body: JSON.stringify(message), signal });
}

interface OpenedRequest {
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

function open(
  { address, path, headers: common }: McpEndpoint,
  { method, headers, body, signal }: OpenedRequest,
): Promise<IncomingMessage> {
  const { host, port, hostHeader, isTls } = address;
  const options = { host, port, method, path, agent: false, signal };
  return new Promise((resolve, reject) => {
    const request = (isTls === true ? https : http).request(
      { ...options, headers: { ...headers, ...common, host: hostHeader } },
      resolve,
    );
    limitEdgeConnectTime(request, address);
    request.on("error", reject).end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of readBounded(response, { bytes: MAX_RESPONSE_BYTES })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Leaving the loop closes the connection. */
async function* readBounded(response: IncomingMessage, remaining: { bytes: number }): AsyncGenerator<Buffer> {
  for await (const chunk of response as AsyncIterable<Buffer>) {
    remaining.bytes -= chunk.length;
    if (remaining.bytes < 0) throw new AppCallFailed("The app's response exceeds 4 MiB.");
    yield chunk;
  }
}

function findResponse(messages: readonly ReceivedMessage[]): RpcResponse | null {
  for (const message of messages) if (message.kind === "response") return message.response;
  return null;
}

const MAX_PINGS = 10;
/** A server may end a stream before the response, so that no connection stays open during a long call. */
const MAX_RESUMPTIONS = 10;
const DEFAULT_RETRY_MS = 1000;
const MAX_RETRY_MS = 10_000;

interface StreamReading {
  id: number;
  answer: (pingId: string | number) => void;
  resume: (lastEventId: string) => Promise<IncomingMessage>;
  signal: AbortSignal;
}

/** Where a stream ended, and what all streams of one call may still send. */
interface StreamState {
  remaining: { bytes: number };
  pings: number;
  lastEventId: string | null;
  retryMs: number;
}

async function readStreams(first: IncomingMessage, reading: StreamReading): Promise<RpcResponse> {
  const state = { remaining: { bytes: MAX_RESPONSE_BYTES }, pings: 0, lastEventId: null, retryMs: DEFAULT_RETRY_MS };
  let stream = first;
  for (let resumptions = 0; ; resumptions++) {
    const response = await readStream(stream, reading, state);
    if (response !== null) return response;
    const { lastEventId, retryMs }: StreamState = state;
    if (lastEventId === null || resumptions === MAX_RESUMPTIONS)
      throw new AppCallFailed("The app's event stream ended without a response to the call.");
    await wait(Math.min(retryMs, MAX_RETRY_MS), undefined, { signal: reading.signal });
    stream = await reading.resume(lastEventId).catch((error: Error) => {
      throw toCallInProgress(toAppCallFailed(error));
    });
    if (stream.statusCode === 200 && isEventStream(stream)) continue;
    discard(stream);
    throw new AppCallFailed("The app's event stream ended without a response to the call, and cannot be resumed.");
  }
}

/** @returns `null` when the stream ends without a response */
async function readStream(
  stream: IncomingMessage,
  { id, answer }: StreamReading,
  state: StreamState,
): Promise<RpcResponse | null> {
  const received: ReceivedMessage[] = [];
  const parser = createParser({
    onEvent: ({ event, data, id: eventId }) => {
      if (eventId !== undefined && isHeaderSafe(eventId)) state.lastEventId = eventId;
      if (event === undefined || event === "message") received.push(...readMessages(data, id));
    },
    onRetry: (milliseconds) => {
      state.retryMs = milliseconds;
    },
  });
  for await (const text of decodeStream(stream, state.remaining)) {
    parser.feed(text);
    for (const message of received.splice(0)) {
      if (message.kind === "response") return message.response;
      if (message.kind === "request") handleRequest(message, answer, state);
    }
  }
  return null;
}

/** Ends the last event, also if the server did not. */
async function* decodeStream(stream: IncomingMessage, remaining: { bytes: number }): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of readBounded(stream, remaining)) yield decoder.decode(chunk, { stream: true });
  yield `${decoder.decode()}\n\n`;
}

/** @throws {AppCallFailed} for any other request than a ping */
function handleRequest(
  { id, method }: { id: string | number; method: string },
  answer: StreamReading["answer"],
  state: StreamState,
): void {
  if (method !== "ping")
    throw new AppCallFailed(
      `The tool sent the request ${JSON.stringify(method.slice(0, 100))} to its client before it finished. A tool can only be called if it needs no input from its client during the call.`,
    );
  state.pings += 1;
  if (state.pings > MAX_PINGS) throw new AppCallFailed(`The tool sent more than ${MAX_PINGS} pings.`);
  answer(id);
}

/** Whether a text can be sent back in a header. */
export function isHeaderSafe(text: string): boolean {
  return /^[\x21-\x7e]{1,4096}$/.test(text);
}
