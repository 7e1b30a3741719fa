import http from "node:http";
import { AppCallFailed } from "../../../domain/ports/app-caller.ts";

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
}

/** The address of the edge proxy, and the host name of one app there. */
export interface AppAddress {
  host: string;
  port: number;
  hostHeader: string;
}

export const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
export const TIMEOUT_MS = 30_000;

/**
 * Sends one request to an app and reads the whole response. Connects by address, because only browsers resolve the host
 * names of apps on a local installation.
 *
 * @throws {AppCallFailed}
 */
export function sendAppRequest(address: AppAddress, request: AppRequest, signal: AbortSignal): Promise<AppResponse> {
  const options: http.RequestOptions = {
    host: address.host,
    port: address.port,
    method: request.method,
    path: request.path,
    headers: { ...request.headers, host: address.hostHeader },
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  };
  return new Promise((resolve, reject) => {
    const outgoing = http.request(options, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_RESPONSE_BYTES) outgoing.destroy(new AppCallFailed("The app's response exceeds 4 MiB."));
      });
      response.on("end", () => {
        const contentType = response.headers["content-type"] ?? "";
        resolve({ status: response.statusCode ?? 0, contentType, text: Buffer.concat(chunks).toString() });
      });
      response.on("error", (error) => reject(toAppCallFailed(error)));
    });
    outgoing.on("error", (error) => reject(toAppCallFailed(error)));
    outgoing.end(request.body ?? undefined);
  });
}

export function toAppCallFailed(error: Error): AppCallFailed {
  if (error instanceof AppCallFailed) return error;
  const isTimeout = error.name === "AbortError" || error.name === "TimeoutError";
  const message = isTimeout
    ? "The app did not respond in time."
    : "The app closed the connection before it sent a complete response.";
  return new AppCallFailed(message, { cause: error });
}
