import http from "node:http";
import { AppOutOfReach } from "../../../domain/ports/app-caller.ts";

export interface AppRequest {
  method: string;
  /** Path and query, below the app's URL. */
  path: string;
  headers: Record<string, string>;
  body: string | null;
}

export interface AppResponse {
  status: number;
  contentType: string;
  text: string;
}

/** Where the front door of the apps listens, and the host name of one app there. */
export interface AppAddress {
  host: string;
  port: number;
  hostHeader: string;
}

/** An answer larger than this is not read to its end, in bytes. */
const LARGEST_ANSWER = 4 * 1024 * 1024;
const PATIENCE_MS = 30_000;

/** Sends one request to an app. The connection is made by address: the name of an app resolves in browsers only. */
export function exchange(address: AppAddress, request: AppRequest, signal: AbortSignal): Promise<AppResponse> {
  const { method, path, body } = request;
  const headers = { ...request.headers, host: address.hostHeader };
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  return new Promise((resolve, reject) => {
    const { host, port } = address;
    const sent = http.request({ host, port, method, path, headers, agent: false, signal: bounded }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > LARGEST_ANSWER) sent.destroy(new AppOutOfReach("The app answered more than 4 MiB."));
      });
      response.on("end", () => {
        const contentType = response.headers["content-type"] ?? "";
        resolve({ status: response.statusCode ?? 0, contentType, text: Buffer.concat(chunks).toString() });
      });
      response.on("error", (error) => reject(outOfReach(error)));
    });
    sent.on("error", (error) => reject(outOfReach(error)));
    sent.end(body ?? undefined);
  });
}

function outOfReach(error: Error): AppOutOfReach {
  if (error instanceof AppOutOfReach) return error;
  const late = error.name === "AbortError" || error.name === "TimeoutError";
  return new AppOutOfReach(late ? "The app did not answer in time." : "The app hung up before it answered.", {
    cause: error,
  });
}
