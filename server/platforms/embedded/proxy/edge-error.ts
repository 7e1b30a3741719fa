import type { ServerResponse } from "node:http";

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
  const isPage = response.req.headers.accept?.includes("text/html") === true;
  const body = isPage ? errorPage(message) : JSON.stringify({ error: message });
  response.writeHead(status, {
    "content-type": isPage ? "text/html; charset=utf-8" : "application/json",
    vary: "accept",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/** @param message - a text of the edge proxy, without text of clients or apps */
function errorPage(message: string): string {
  const head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Not available</title>';
  return `<!doctype html><html lang="en"><head>${head}</head><body><p>${message}</p></body></html>\n`;
}
