import { JSON_CONTENT } from "../support/mcp-client.ts";
import type { ComparedRequest } from "./compared-request.ts";

const REVISION = "2025-11-25";
const HEADERS = { ...JSON_CONTENT, accept: "application/json, text/event-stream" };

/** Opens one session per connection and returns a call of `echo`. In one session, concurrent requests need unique ids. */
export async function openEchoSessions(
  publicUrl: string,
  connections: number,
  signal: AbortSignal,
): Promise<Omit<ComparedRequest, "responseLength">> {
  const url = `${publicUrl}/mcp`;
  const headers = [];
  while (headers.length < connections) headers.push(await openSession(url, signal));
  const params = { name: "echo", arguments: { message: "hello" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return { name: "server-everything", method: "POST", url, headers, body };
}

async function openSession(url: string, signal: AbortSignal): Promise<Record<string, string>> {
  const clientInfo = { name: "bench", version: "1.0.0" };
  const params = { protocolVersion: REVISION, capabilities: {}, clientInfo };
  const response = await post(url, HEADERS, { id: 0, method: "initialize", params }, signal);
  const session = response.headers.get("mcp-session-id");
  if (session === null) throw new Error("server-everything returned no session id.");
  const headers = { ...HEADERS, "mcp-session-id": session, "mcp-protocol-version": REVISION };
  await post(url, headers, { method: "notifications/initialized" }, signal);
  return headers;
}

async function post(
  url: string,
  headers: Record<string, string>,
  message: object,
  signal: AbortSignal,
): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  const response = await fetch(url, { method: "POST", headers, body, signal });
  if (!response.ok) throw new Error(`server-everything returned ${response.status}.`);
  await response.text();
  return response;
}
