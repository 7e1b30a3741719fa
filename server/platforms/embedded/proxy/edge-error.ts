import type { ServerResponse } from "node:http";

/** A request that the edge answers itself, instead of the app. */
export class EdgeError extends Error {
  override readonly name = "EdgeRefusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Answers with `{"error": "..."}`, unless an answer has begun. */
export function refuse(response: ServerResponse, { status, message, headers }: EdgeError): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify({ error: message });
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}
