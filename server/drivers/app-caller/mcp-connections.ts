import { LRUCache } from "lru-cache";
import { AppCallFailed } from "../../../domain/ports/app-caller.ts";
import type { McpInvocation } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { raceWithSignal } from "../../../domain/shared/race-with-signal.ts";
import { isHeaderSafe, type McpEndpoint, type McpReply, notifyMcp, requestMcp } from "./mcp-exchange.ts";
import { TIMEOUT_MS } from "./send-app-request.ts";

/** How requests to one MCP server are sent. */
export interface McpConnection {
  /** `null` for a server whose revision is not known: no revision is sent. */
  revision: string | null;
  sessionId: string | null;
}

/** The first revision without a handshake and without sessions. */
export const FIRST_STATELESS_REVISION = "2026-07-28";
/** The last revision with a handshake. A server that does not support it selects another one. */
const LAST_REVISION_WITH_HANDSHAKE = "2025-11-25";
export const CLIENT_INFO = { name: "app-provisioning-service", version: "1.0.0" };
const MAX_CONNECTIONS = 1000;

/** A server does not start a session. `reply` is its response to `initialize`. */
export class InitializeRejected extends Error {
  override readonly name = "InitializeRejected";
  readonly reply: McpReply;

  constructor(reply: McpReply) {
    super("The MCP server rejected the request initialize");
    this.reply = reply;
  }
}

/**
 * Keeps the connections to the MCP servers of apps, and so their sessions, in the memory of this process. A connection that
 * is evicted is forgotten: ending its session would start the process of an idle app, only to end what ends with it anyway.
 */
export class McpConnections {
  readonly #connections = new LRUCache<string, McpConnection>({ max: MAX_CONNECTIONS });
  /** Handshakes in progress. All calls that need the same session wait for the same handshake. */
  readonly #handshakes = new Map<string, Promise<McpConnection>>();

  /**
   * Returns the connection of `key`. A server without sessions needs no request.
   *
   * @param key - has everything that a session must not be shared across
   * @throws {AppCallFailed | InitializeRejected}
   */
  async get(
    key: string,
    endpoint: McpEndpoint,
    invocation: McpInvocation,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    const kept = this.#connections.get(key);
    if (kept !== undefined) return kept;
    if (invocation.hasSession === true) return this.#shareHandshake(key, endpoint, invocation, signal);
    return { revision: invocation.revision ?? null, sessionId: null };
  }

  /**
   * Replaces a connection that the server rejected. Calls that used the same connection get the same new one.
   *
   * @throws {AppCallFailed | InitializeRejected}
   */
  async replace(
    key: string,
    rejected: McpConnection,
    endpoint: McpEndpoint,
    { invocation, reply, signal }: { invocation: McpInvocation; reply: McpReply; signal: AbortSignal },
  ): Promise<McpConnection> {
    const kept = this.#connections.get(key);
    if (kept !== undefined && kept !== rejected) return kept;
    this.#connections.delete(key);
    if (rejected.revision !== FIRST_STATELESS_REVISION && supportsStatelessRevision(reply))
      return this.#keep(key, { revision: FIRST_STATELESS_REVISION, sessionId: null });
    return this.#shareHandshake(key, endpoint, invocation, signal);
  }

  /** Forgets a connection, so that the next call does not use it. */
  forget(key: string, connection: McpConnection): void {
    if (this.#connections.get(key) === connection) this.#connections.delete(key);
  }

  #keep(key: string, connection: McpConnection): McpConnection {
    this.#connections.set(key, connection);
    return connection;
  }

  async #shareHandshake(
    key: string,
    endpoint: McpEndpoint,
    invocation: McpInvocation,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    let handshake = this.#handshakes.get(key);
    if (handshake === undefined) {
      // Not the signal of the first call: others wait for the same handshake.
      handshake = initialize(endpoint, invocation, AbortSignal.timeout(TIMEOUT_MS))
        .then((connection) => this.#keep(key, connection))
        .finally(() => this.#handshakes.delete(key));
      // Every call that waits gets the error. There may be none any more.
      handshake.catch(() => undefined);
      this.#handshakes.set(key, handshake);
    }
    return raceWithSignal(handshake, signal);
  }
}

async function initialize(
  endpoint: McpEndpoint,
  { revision }: McpInvocation,
  signal: AbortSignal,
): Promise<McpConnection> {
  const hasHandshake = revision !== undefined && revision < FIRST_STATELESS_REVISION;
  const protocolVersion = hasHandshake ? revision : LAST_REVISION_WITH_HANDSHAKE;
  const params = { protocolVersion, capabilities: {}, clientInfo: CLIENT_INFO };
  const reply = await requestMcp(endpoint, { method: "initialize", params, headers: {} }, signal);
  const result = reply.response?.result;
  if (!isRecord(result)) {
    if (supportsStatelessRevision(reply)) return { revision: FIRST_STATELESS_REVISION, sessionId: null };
    throw new InitializeRejected(reply);
  }
  const selected = result["protocolVersion"];
  if (typeof selected !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(selected))
    throw new AppCallFailed("The app's MCP server selected a protocol revision that is not a date.");
  if (reply.sessionId !== null && !isHeaderSafe(reply.sessionId))
    throw new AppCallFailed("The app's MCP server assigned a session id that has other characters than visible ASCII.");
  const connection = { revision: selected, sessionId: reply.sessionId };
  const notification = { method: "notifications/initialized", headers: toHeaders(connection) };
  await notifyMcp(endpoint, notification, signal);
  return connection;
}

/** The headers of every request of a connection, except for those that depend on the request. */
export function toHeaders({ revision, sessionId }: McpConnection): Record<string, string> {
  return {
    ...(revision !== null && { "mcp-protocol-version": revision }),
    ...(sessionId !== null && { "mcp-session-id": sessionId }),
  };
}

const UNSUPPORTED_PROTOCOL_VERSION = -32_022;

function supportsStatelessRevision({ response }: McpReply): boolean {
  const { code, data } = response?.error ?? {};
  if (code !== UNSUPPORTED_PROTOCOL_VERSION || !isRecord(data)) return false;
  const { supported } = data;
  return Array.isArray(supported) && supported.includes(FIRST_STATELESS_REVISION);
}
