import http from "node:http";
import { readBody } from "../../http/read-body.ts";
import { ISOLATED_URL, ownRequestHeaders } from "../../http/edge/forwarded-headers.ts";
import type { IsolatedApp } from "../../ports/isolated-runtime.ts";

/** The app did not respond as required. The message is a sentence for its owner. */
export class AppResponseError extends Error {
  override readonly name = "AppResponseError";
}

export interface IsolatedRequest {
  path: string;
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
  /** The largest response body that is read. 4 MiB by default. */
  maxBytes?: number;
}

export interface IsolatedResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

const DEFAULT_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Sends one request to an isolated app, over a connection of its own, and reads the whole response. Follows no redirect.
 *
 * @throws {AppResponseError} when the connection ends early or the body is larger than `maxBytes`
 */
export async function requestApp(
  app: IsolatedApp,
  request: IsolatedRequest,
  signal: AbortSignal,
): Promise<IsolatedResponse> {
  const { path, maxBytes = DEFAULT_MAX_BYTES } = request;
  try {
    const response = await sendRequest(app, request, signal);
    const content = await readBody(response, maxBytes);
    if (content === null) throw new AppResponseError(`The app's response at ${path} is larger than ${maxBytes} bytes.`);
    return { status: response.statusCode ?? 0, headers: response.headers, text: content.toString("utf8") };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppResponseError) throw error;
    throw new AppResponseError(`The app closed the connection during a request for ${path}.`, { cause: error });
  }
}

function sendRequest(
  { address }: IsolatedApp,
  { path, method = "GET", headers = {}, body }: IsolatedRequest,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { ...address, path, method, signal, agent: false };
    http
      .request({ ...options, headers: { ...ownRequestHeaders(ISOLATED_URL), ...headers } }, resolve)
      .on("error", reject)
      .end(body);
  });
}
