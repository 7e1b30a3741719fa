import { IncomingMessage } from "node:http";
import { Socket } from "node:net";

/** A request or response with these headers, as Node's HTTP parser returns it for a peer at 127.0.0.1. */
export function receivedMessage(sent: [name: string, value: string][], method = "GET"): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: "127.0.0.1" });
  const headers: Record<string, string> = {};
  for (const [name, value] of sent) {
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
  }
  return Object.assign(new IncomingMessage(socket), { method, rawHeaders: sent.flat(), headers });
}
