import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";

export const MIRROR = "http://packages.invalid";

export interface MirrorResponse {
  status: number | undefined;
  body: Buffer;
}

/** Sends a request like a client that uses the mirror as its HTTP proxy. */
export async function sendToMirror(socketPath: string, path: string, method = "GET"): Promise<MirrorResponse> {
  const sent = request({ socketPath, path, method, agent: false }).end();
  const [response] = (await once(sent, method === "CONNECT" ? "connect" : "response")) as [IncomingMessage];
  return { status: response.statusCode, body: method === "CONNECT" ? Buffer.alloc(0) : await buffer(response) };
}
