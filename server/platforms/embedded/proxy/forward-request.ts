import http, { type ClientRequestArgs, type IncomingMessage, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { AcquiredApp } from "../supervisor/running-app.ts";
import { applyRange, sliceBytes } from "./byte-range.ts";
import { EdgeError, sendError } from "./edge-error.ts";
import { bodyFraming, type ForwardingContext, hasBody, requestHeaders, responseHeaders } from "./proxy-headers.ts";

/**
 * Connections to apps are reused only for requests without a body. workerd closes a connection after it responded to a
 * request whose body it did not read, and the next request on that connection would be lost. `OpenRequests` limits the
 * connections; at a limit of the agent, requests would wait without end.
 */
const reusedConnections = new http.Agent({ keepAlive: true, maxFreeSockets: 256 });

const APP_STOPPED = new EdgeError(502, "The app stopped before it responded.");
/** In bytes. Node's default of 16 KiB is less than what apps and browsers accept. */
const MAX_RESPONSE_HEADERS = 64 * 1024;
const LARGE_HEADERS = new EdgeError(
  502,
  `The headers of the app's response exceed ${MAX_RESPONSE_HEADERS / 1024} KiB.`,
);
const INVALID_RESPONSE = new EdgeError(502, "The app's response is invalid and cannot be forwarded.");

/** Forwards one request to the app, and its response to the client, both as streams. Releases the app at the end. */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  app: AcquiredApp,
  context: ForwardingContext,
): void {
  const upstream = http.request(upstreamOptions(request, app, context));
  upstream.on("response", (reply) => relayResponse(request, reply, response, context));
  upstream.on("error", (error) => {
    // An app may respond without reading the body and close the connection. Its response is still sent.
    if (response.headersSent || response.destroyed) return;
    // The app closed a reused connection while the request was sent. Only GET and HEAD reuse one, and may be repeated.
    if (upstream.reusedSocket && isDisconnect(error)) return forwardRequest(request, response, app, context);
    sendError(response, toEdgeError(error));
  });
  response.once("close", () => {
    app.release();
    upstream.destroy();
  });
  if (!hasBody(request)) return void upstream.end();
  request.pipe(upstream);
  // If the rest of the body remained unread, it would block the connection of the client.
  upstream.once("close", () => request.resume());
}

/** Connects a WebSocket of a client with the app. If the app does not switch protocols, forwards its response. */
export function forwardUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  app: AcquiredApp,
  context: ForwardingContext,
): void {
  const options = upstreamOptions(request, app, context);
  const upstream = http.request({
    ...options,
    agent: false,
    headers: [...options.headers, "connection", "Upgrade", "upgrade", "websocket"],
  });
  socket.once("close", () => {
    app.release();
    upstream.destroy();
  });
  // Before the app has responded, a client that ends its side of the connection is gone.
  const destroy = () => socket.destroy();
  socket.once("end", destroy);
  upstream.on("upgrade", (reply, appSocket, appHead) => {
    socket.off("end", destroy);
    socket.write(switchingProtocols(reply, context));
    joinSockets(socket, appSocket);
    appSocket.write(head);
    socket.write(appHead);
  });
  // A socket accepts one response only, and an app may fail in the middle of its response.
  let response: ServerResponse | undefined;
  const getResponse = () => (response ??= responseOn(request, socket));
  upstream.on("response", (reply) => relayResponse(request, reply, getResponse(), context));
  upstream.on("error", (error) => sendError(getResponse(), toEdgeError(error)));
  upstream.end();
}

/** A response on a socket that the HTTP server released because of its `Upgrade` header. */
export function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new http.ServerResponse(request);
  response.shouldKeepAlive = false;
  // The server always passes a net socket. The type is wider, for custom servers.
  response.assignSocket(socket as Socket);
  // The client could otherwise keep its half of the connection open.
  response.once("finish", () => (socket as Socket).destroySoon());
  return response;
}

function upstreamOptions(request: IncomingMessage, app: AcquiredApp, context: ForwardingContext) {
  const isRepeatable = !hasBody(request) && (request.method === "GET" || request.method === "HEAD");
  const { connection } = app;
  const createConnection = connection === undefined ? connectHalfOpen : () => connection;
  return {
    ...app.address,
    method: request.method ?? "GET",
    path: request.url ?? "/",
    maxHeaderSize: MAX_RESPONSE_HEADERS,
    headers: [...requestHeaders(request, context), ...bodyFraming(request)],
    ...(isRepeatable && connection === undefined ? { agent: reusedConnections } : { createConnection }),
  };
}

function toEdgeError(error: NodeJS.ErrnoException): EdgeError {
  return error.code === "HPE_HEADER_OVERFLOW" ? LARGE_HEADERS : APP_STOPPED;
}

function relayResponse(
  request: IncomingMessage,
  reply: IncomingMessage,
  response: ServerResponse,
  context: ForwardingContext,
): void {
  const received = responseHeaders(reply, context.appsDomain);
  const ranged = applyRange(request, reply, received);
  const headers = ranged?.headers ?? received;
  if (reply.headers["x-request-id"] === undefined) headers.push("x-request-id", context.requestId);
  reply.on("error", () => response.destroy());
  try {
    if (ranged === null) response.writeHead(reply.statusCode ?? 502, reasonPhrase(reply), headers);
    else response.writeHead(ranged.status, headers);
  } catch {
    // Node's parser accepts headers that `writeHead` rejects. An uncaught error here would end the service.
    reply.destroy();
    return sendError(response, INVALID_RESPONSE);
  }
  if (ranged?.status === 416) return endEarly(reply, response);
  if (!ranged?.bytes) return void reply.pipe(response);
  const slice = sliceBytes(ranged.bytes).once("complete", () => {
    reply.unpipe(slice);
    slice.end();
    reply.resume();
  });
  reply.pipe(slice).pipe(response);
}

/** Ends a response without the body of the app. */
function endEarly(reply: IncomingMessage, response: ServerResponse): void {
  reply.resume();
  response.end();
}

/** The text beside the status. The app chooses it and it has no meaning, so invalid text is omitted. */
function reasonPhrase({ statusMessage = "" }: IncomingMessage): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage) ? statusMessage : "";
}

function switchingProtocols(reply: IncomingMessage, { appsDomain }: ForwardingContext): string {
  const headers = ["connection", "Upgrade", "upgrade", "websocket", ...responseHeaders(reply, appsDomain)];
  let text = `HTTP/1.1 101 ${reasonPhrase(reply)}\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return `${text}\r\n`;
}

function joinSockets(one: Duplex, other: Duplex): void {
  one.pipe(other).pipe(one);
  one.on("error", () => other.destroy()).once("close", () => other.destroy());
  other.on("error", () => one.destroy()).once("close", () => one.destroy());
}

type WriteCallback = (error?: Error | null) => void;

/**
 * A connection that continues to read after the other side has stopped reading.
 *
 * An app that does not read the body of a request responds and closes the connection. A write to it then fails, which
 * would destroy a plain socket together with a response that has arrived but was not read yet. This socket ignores the
 * failed write. If there is no response either, reading fails.
 */
export class HalfOpenSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, callback: WriteCallback): void {
    super._write(chunk, encoding, ignoreDisconnect(callback));
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], callback: WriteCallback): void {
    super._writev?.(chunks, ignoreDisconnect(callback));
  }
}

/** For the `createConnection` option of an HTTP request without an agent. */
function connectHalfOpen({ host, port, socketPath }: ClientRequestArgs): Socket {
  if (typeof socketPath === "string") return new HalfOpenSocket().connect(socketPath);
  return new HalfOpenSocket().connect(Number(port), host ?? "127.0.0.1");
}

function ignoreDisconnect(callback: WriteCallback): WriteCallback {
  return (error) => callback(isDisconnect(error) ? null : error);
}

/** Whether an error means that the other side closed the connection. */
function isDisconnect(error: NodeJS.ErrnoException | null | undefined): boolean {
  return ["ECONNRESET", "EPIPE"].includes(error?.code ?? "");
}
