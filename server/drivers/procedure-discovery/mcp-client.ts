import { z } from "zod";
import type { IsolatedApp } from "../../../domain/ports/isolated-runtime.ts";
import { type AppAnswer, ask } from "./isolated-app.ts";
import { parseJson } from "../../../domain/shared/json.ts";

/** The revision with a handshake that most servers know, and the one that has none. */
const WITH_HANDSHAKE = "2025-11-25";
const STATELESS = "2026-07-28";
const CLIENT = { name: "procedure-discovery", version: "1" };

const resultSchema = z.looseObject({ jsonrpc: z.literal("2.0"), result: z.record(z.string(), z.unknown()) });
const refusalSchema = z.looseObject({ jsonrpc: z.literal("2.0"), error: z.looseObject({ code: z.int() }) });
const versionSchema = z
  .string()
  .regex(/^[\d-]{1,20}$/)
  .catch(WITH_HANDSHAKE);

/** Calls to an MCP endpoint by plain JSON-RPC over HTTP, in the revision that the server speaks. */
export class JsonRpcSession {
  readonly #app: IsolatedApp;
  readonly #endpoint: string;
  readonly #signal: AbortSignal;
  #version = WITH_HANDSHAKE;
  #session: string | undefined;
  #calls = 0;

  private constructor(app: IsolatedApp, endpoint: string, signal: AbortSignal) {
    this.#app = app;
    this.#endpoint = endpoint;
    this.#signal = signal;
  }

  /**
   * Shakes hands, or finds that the server does not.
   *
   * @returns `null` when nothing at `endpoint` speaks JSON-RPC
   * @throws {Unanswered}
   */
  static async open(app: IsolatedApp, endpoint: string, signal: AbortSignal): Promise<JsonRpcSession | null> {
    const session = new JsonRpcSession(app, endpoint, signal);
    const hello = { protocolVersion: WITH_HANDSHAKE, capabilities: {}, clientInfo: CLIENT };
    const answer = await session.#post("initialize", hello, { id: ++session.#calls });
    const message = messageOf(answer);
    const welcome = resultSchema.safeParse(message);
    if (welcome.success) {
      session.#version = versionSchema.parse(welcome.data.result["protocolVersion"]);
      session.#session = [answer.headers["mcp-session-id"]].flat()[0];
      await session.#post("notifications/initialized", {});
      return session;
    }
    if (!refusalSchema.safeParse(message).success) return null;
    session.#version = STATELESS;
    return session;
  }

  /** The result; `null` when the server refuses. */
  async call(method: string, params: Record<string, unknown>): Promise<Record<string, unknown> | null> {
    const answer = await this.#post(method, params, { id: ++this.#calls });
    return resultSchema.safeParse(messageOf(answer)).data?.result ?? null;
  }

  #post(method: string, params: Record<string, unknown>, envelope: { id?: number } = {}): Promise<AppAnswer> {
    const body = JSON.stringify({ jsonrpc: "2.0", ...envelope, method, params: { ...params, ...this.#meta() } });
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": this.#version,
      "mcp-method": method,
      ...(this.#session !== undefined && { "mcp-session-id": this.#session }),
    };
    return ask(this.#app, { path: this.#endpoint, method: "POST", headers, body }, this.#signal);
  }

  #meta(): { _meta?: Record<string, unknown> } {
    if (this.#version !== STATELESS) return {};
    const prefix = "io.modelcontextprotocol";
    const told = { protocolVersion: STATELESS, clientInfo: CLIENT, clientCapabilities: {} };
    return { _meta: Object.fromEntries(Object.entries(told).map(([name, value]) => [`${prefix}/${name}`, value])) };
  }
}

/** The one message of an answer; as an event stream, the last one that has a result or an error. */
function messageOf({ headers, text }: AppAnswer): unknown {
  if (headers["content-type"]?.startsWith("text/event-stream") !== true) return parseJson(text);
  const events = text.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice("data:".length).trimStart())
      .join("\n"),
  );
  return events.map(parseJson).findLast((message) => isAnswer(message));
}

function isAnswer(message: unknown): boolean {
  return typeof message === "object" && message !== null && ("result" in message || "error" in message);
}
