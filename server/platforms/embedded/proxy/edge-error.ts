import type { ServerResponse } from "node:http";
import { edgeErrorBody } from "../../../http/edge/error-body.ts";

/** A request to which the edge proxy responds itself, in place of the app. */
export class EdgeError extends Error {
  override readonly name = "EdgeError";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Sends `{"error": "..."}`, or a page to a browser, unless a response has begun. */
export function sendError(response: ServerResponse, { status, message, headers }: EdgeError): void {
  if (response.headersSent || response.destroyed) return;
  const { contentType, body } = edgeErrorBody(message, response.req.headers.accept);
  response.writeHead(status, {
    "content-type": contentType,
    vary: "accept",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}
