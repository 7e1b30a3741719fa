import http from "node:http";
import https from "node:https";
import { AppCallFailed } from "../../../domain/ports/app-caller.ts";
import { limitConnectTime } from "../../http/connect-timeout.ts";

export interface AppRequest {
  method: string;
  /** Path and query, relative to the app's URL. */
  path: string;
  headers: Record<string, string>;
  body: string | null;
}

export interface AppResponse {
  status: number;
  contentType: string;
  text: string;
  /** The target of a redirect that was not followed. */
  location: string | null;
}

/** There was no connection, so nothing was sent, and the call can be repeated at another address. */
export class ConnectionRefused extends AppCallFailed {}

/** Where an app is reached, and its host name there. */
export interface AppAddress {
  host: string;
  port: number;
  hostHeader: string;
  /** Whether the connection is encrypted, and the certificate checked. */
  isTls?: boolean;
}

export const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
export const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 5;

/**
 * Sends one request to an app and reads the whole response. Connects by address, because only browsers resolve the host
 * names of apps on a local installation. Follows redirects on the app's own host.
 *
 * @throws {AppCallFailed}
 */
export async function sendAppRequest(
  address: AppAddress,
  request: AppRequest,
  signal: AbortSignal,
): Promise<AppResponse> {
  const stop = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  let current = request;
  for (let redirects = 0; ; redirects++) {
    const response = await sendOnce(address, current, stop).catch((error: unknown) => {
      throw redirects > 0 ? toCallInProgress(error) : error;
    });
    const next = redirects < MAX_REDIRECTS ? getRedirected(current, response, address.hostHeader) : null;
    if (next === null) return response;
    current = next;
  }
}

/**
 * The request that follows a redirect; `null` when the response is not a redirect, leads to another host, or would
 * repeat a request that may have changed something.
 */
function getRedirected(request: AppRequest, response: AppResponse, hostHeader: string): AppRequest | null {
  const { status, location } = response;
  const method = getRedirectedMethod(status, request.method);
  if (method === null || location === null) return null;
  const target = URL.parse(location, `http://${hostHeader}${request.path}`);
  if (target === null || !/^https?:$/.test(target.protocol)) return null;
  if (target.hostname !== new URL(`http://${hostHeader}`).hostname) return null;
  const path = `${target.pathname}${target.search}`;
  if (method === request.method) return { ...request, path };
  const headers = Object.entries(request.headers).filter(([name]) => !name.startsWith("content-"));
  return { method, path, headers: Object.fromEntries(headers), body: null };
}

/** The method after a redirect (Fetch Standard). `null` for PUT, PATCH and DELETE with a status that clients read differently. */
function getRedirectedMethod(status: number, method: string): string | null {
  if (status === 307 || status === 308) return method;
  if (status === 303) return "GET";
  if (status !== 301 && status !== 302) return null;
  return method === "GET" || method === "POST" ? "GET" : null;
}

function sendOnce(address: AppAddress, request: AppRequest, signal: AbortSignal): Promise<AppResponse> {
  const options: http.RequestOptions = {
    host: address.host,
    port: address.port,
    method: request.method,
    path: request.path,
    headers: { ...request.headers, host: address.hostHeader },
    agent: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    const outgoing = (address.isTls === true ? https : http).request(options, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_RESPONSE_BYTES) outgoing.destroy(new AppCallFailed("The app's response exceeds 4 MiB."));
      });
      response.on("end", () => resolve(toResponse(response, Buffer.concat(chunks))));
      response.on("error", (error) => reject(toAppCallFailed(error)));
    });
    outgoing.on("error", (error) => reject(toAppCallFailed(error)));
    limitEdgeConnectTime(outgoing, address);
    outgoing.end(request.body ?? undefined);
  });
}

function toResponse({ statusCode = 0, headers }: http.IncomingMessage, body: Buffer): AppResponse {
  const contentType = headers["content-type"] ?? "";
  const isRedirect = statusCode >= 300 && statusCode < 400;
  return {
    status: statusCode,
    contentType,
    text: decodeText(body, contentType),
    location: isRedirect ? (headers.location ?? null) : null,
  };
}

/** Decodes a body with the charset that its content type names; with UTF-8 if it names none, or an unknown one. */
function decodeText(body: Buffer, contentType: string): string {
  const [, charset = "utf-8"] = /;\s*charset="?([\w.:-]+)/i.exec(contentType) ?? [];
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

export function toAppCallFailed(error: Error): AppCallFailed {
  if (error instanceof AppCallFailed) return error;
  const isTimeout = error.name === "AbortError" || error.name === "TimeoutError";
  const message = isTimeout
    ? "The app did not respond in time."
    : "The app closed the connection before it sent a complete response.";
  return isConnectError(error)
    ? new ConnectionRefused(message, { cause: error })
    : new AppCallFailed(message, { cause: error });
}

function isConnectError({ code, syscall }: NodeJS.ErrnoException): boolean {
  // An error of a host name with several addresses has no system call.
  return code === "ECONNREFUSED" || syscall === "connect" || syscall === "getaddrinfo";
}

/** A refused connection does not mean that nothing was sent when an earlier request of the call was. */
export function toCallInProgress(error: unknown): unknown {
  return error instanceof ConnectionRefused ? new AppCallFailed(error.message, { cause: error }) : error;
}

/** An edge is in a private network, as opposed to an address with TLS. */
export function limitEdgeConnectTime(request: http.ClientRequest, { isTls }: AppAddress): void {
  if (isTls !== true) limitConnectTime(request);
}
