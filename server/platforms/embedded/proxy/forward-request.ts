import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connectHalfOpen, isHangUp } from "./half-open-socket.ts";
import { EdgeError, refuse } from "./edge-error.ts";
import { bodyFraming, hasBody, requestHeaders, responseHeaders, type ForwardedIdentity } from "./proxy-headers.ts";
import type { Lease } from "../supervisor/running-app.ts";

/**
 * Connections to the apps are kept for requests without a body only: workerd closes a connection after it answered a
 * request whose body it did not read, and the next request on it would be lost.
 */
const keptAlive = new http.Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 256 });

const CRASHED = new EdgeError(502, "The app stopped before it answered.");
const UNFIT = new EdgeError(502, "The app's answer cannot be passed on.");

/** Passes one request to the app and its answer back, both as streams. Ends the lease when it is over. */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  lease: Lease,
  identity: ForwardedIdentity,
): void {
  const upstream = http.request(upstreamOptions(request, lease, identity));
  upstream.on("response", (answer) => relay(answer, response, identity));
  upstream.on("error", (error) => {
    // An app may answer without reading the body and hang up; what it answered still goes out.
    if (response.headersSent || response.destroyed) return;
    // The app's side closed a kept connection just as the request went out. Only GET and HEAD go there: they may be repeated.
    if (upstream.reusedSocket && isHangUp(error)) return forward(request, response, lease, identity);
    refuse(response, CRASHED);
  });
  response.once("close", () => {
    lease.release();
    upstream.destroy();
  });
  if (!hasBody(request)) return void upstream.end();
  request.pipe(upstream);
  // The rest of a body that nobody reads has to go somewhere, or the clientInfo's connection would be stuck.
  upstream.once("close", () => request.resume());
}

/** Connects a clientInfo's WebSocket with the app. When the app does not switch protocols its answer goes back as it is. */
export function forwardUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  lease: Lease,
  identity: ForwardedIdentity,
): void {
  const options = upstreamOptions(request, lease, identity);
  const upstream = http.request({
    ...options,
    agent: false,
    headers: [...options.headers, "connection", "Upgrade", "upgrade", "websocket"],
  });
  socket.once("close", () => {
    lease.release();
    upstream.destroy();
  });
  upstream.on("upgrade", (answer, appSocket, appHead) => {
    socket.write(switchingProtocols(answer));
    join(socket, appSocket);
    appSocket.write(head);
    socket.write(appHead);
  });
  // One response for both, since a socket takes no second one; an app may fail in the middle of its answer.
  const response = () => (made ??= responseOn(request, socket));
  let made: ServerResponse | undefined;
  upstream.on("response", (answer) => relay(answer, response(), identity));
  upstream.on("error", () => refuse(response(), CRASHED));
  upstream.end();
}

/** A response to write on a socket that the HTTP server gave away because of its `Upgrade` header. */
export function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new http.ServerResponse(request);
  response.shouldKeepAlive = false;
  // The server hands out net sockets; the type is wider for the sake of custom servers.
  response.assignSocket(socket as Socket);
  response.once("finish", () => socket.end());
  return response;
}

function upstreamOptions(request: IncomingMessage, lease: Lease, identity: ForwardedIdentity) {
  const repeatable = !hasBody(request) && (request.method === "GET" || request.method === "HEAD");
  return {
    host: "127.0.0.1",
    port: lease.port,
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: [...requestHeaders(request, identity), ...bodyFraming(request)],
    ...(repeatable ? { agent: keptAlive } : { createConnection: connectHalfOpen }),
  };
}

function relay(answer: IncomingMessage, response: ServerResponse, { requestId }: ForwardedIdentity): void {
  const headers = responseHeaders(answer);
  if (answer.headers["x-request-id"] === undefined) headers.push("x-request-id", requestId);
  answer.on("error", () => response.destroy());
  try {
    response.writeHead(answer.statusCode ?? 502, reasonOf(answer), headers);
  } catch {
    // Node reads more than it writes, and nobody above would catch what it throws here: it would end the service.
    answer.destroy();
    return refuse(response, UNFIT);
  }
  answer.pipe(response);
}

/** The words beside the status, which the app chooses; they mean nothing, so odd ones are left out. */
function reasonOf({ statusMessage = "" }: IncomingMessage): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage) ? statusMessage : "";
}

function switchingProtocols(answer: IncomingMessage): string {
  const headers = ["connection", "Upgrade", "upgrade", "websocket", ...responseHeaders(answer)];
  let text = `HTTP/1.1 101 ${reasonOf(answer)}\r\n`;
  for (let at = 0; at + 1 < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return `${text}\r\n`;
}

function join(one: Duplex, other: Duplex): void {
  one.pipe(other).pipe(one);
  one.on("error", () => other.destroy()).once("close", () => other.destroy());
  other.on("error", () => one.destroy()).once("close", () => one.destroy());
}
