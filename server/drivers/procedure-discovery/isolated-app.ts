import http from "node:http";
import type { IsolatedApp } from "../../../domain/ports/isolated-runtime.ts";

/** The app did not answer as it should, in words for its owner. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
}

export interface Question {
  path: string;
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
  limitBytes?: number;
}

export interface AppAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

const DEFAULT_LIMIT_BYTES = 4 * 1024 * 1024;

/**
 * Asks the app, over a connection of its own.
 *
 * @throws {Unanswered} when the connection ends early or the answer is longer than `limitBytes`
 */
export async function ask(app: IsolatedApp, question: Question, signal: AbortSignal): Promise<AppAnswer> {
  const { path, limitBytes = DEFAULT_LIMIT_BYTES } = question;
  try {
    const response = await responseTo(app, question, signal);
    const text = await textOf(response, limitBytes);
    if (text === null) throw new Unanswered(`The app's answer at ${path} is longer than ${limitBytes} bytes.`);
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Unanswered) throw error;
    throw new Unanswered(`The app broke off while it was asked for ${path}.`, { cause: error });
  }
}

function responseTo(
  { port }: IsolatedApp,
  { path, method = "GET", headers = {}, body }: Question,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method, signal, agent: false };
    // Visitors of a deployed app use a name below `localhost`, and some apps answer no other.
    http
      .request({ ...options, headers: { host: "app.localhost", ...headers } }, resolve)
      .on("error", reject)
      .end(body);
  });
}

async function textOf(response: http.IncomingMessage, limitBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    // Leaving the loop ends the connection.
    if (bytes > limitBytes) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}
