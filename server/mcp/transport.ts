import type { IncomingHttpHeaders } from "node:http";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  ProtocolError,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { SubscriptionBus } from "./subscription-bus.ts";
import type { PlainMethods } from "./plain-methods.ts";
import { type PlainRequest, plainRequest } from "./fast-path.ts";

const TOOLS_CHANGED = { kind: "tools_list_changed" } as const;
const NO_AUTH = { token: "", clientId: "", scopes: [] };

export interface McpTransportOptions<C> {
  serverFor(context: C): Server;
  plainMethods?: PlainMethods<C>;
  onError(error: Error): void;
}

/** One POST. */
export interface McpRequest<C> {
  headers: IncomingHttpHeaders;
  parsedBody: unknown;
  orgId: string;
  context: C;
}

/**
 * MCP over HTTP without sessions, every revision from one server per request. A request of 2026-07-28 says so in its
 * body; all others are served by the transport of the earlier revisions, in its JSON form.
 *
 * @typeParam C - what a server needs to know of the call it serves
 */
export class McpTransport<C extends object> {
  readonly #bus = new SubscriptionBus();
  readonly #options: McpTransportOptions<C>;
  readonly #modern: McpHttpHandler;
  /** The SDK carries one thing from the request to the server, and it has to be plain data: a key for the context. */
  readonly #contexts = new WeakMap<object, C>();

  constructor(options: McpTransportOptions<C>) {
    this.#options = options;
    this.#modern = createMcpHandler(({ authInfo }) => options.serverFor(this.#contextOf(authInfo?.extra)), {
      legacy: "reject",
      bus: this.#bus,
      onerror: (error) => options.onError(error),
    });
  }

  /** Answers with JSON and status 200, or with a response. A subscription's has a body that stays open until it is canceled. */
  async answer(post: McpRequest<C>): Promise<string | Response> {
    const plain = plainRequest(post.headers, post.parsedBody);
    return (plain && (await this.#answerPlain(plain, post))) ?? this.#answerWithServer(post);
  }

  async #answerPlain(request: PlainRequest, { context }: McpRequest<C>): Promise<string | null> {
    const { id, method, params, isModern } = request;
    const { plainMethods = {} } = this.#options;
    const plain = Object.hasOwn(plainMethods, method) ? plainMethods[method] : undefined;
    if (plain === undefined || !plain.accepts(params)) return null;
    try {
      const result = await plain.answer(context, params);
      if (result === null) return null;
      const whole = isModern ? `${result.slice(0, -1)}${plain.modernMembers}}` : result;
      return `{"result":${whole},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      // In this revision an error has a status as well, which is the SDK's to choose.
      if (isModern) return null;
      const { code, message } = error;
      return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
    }
  }

  async #answerWithServer(post: McpRequest<C>): Promise<Response> {
    const { headers, parsedBody, orgId, context } = post;
    const request = new Request("http://gateway/mcp", { method: "POST", headers: acceptingBoth(headers) });
    if (await isLegacyRequest(request, parsedBody)) return this.#answerEarlierRevision(request, parsedBody, context);
    const authInfo = { ...NO_AUTH, extra: {} };
    this.#contexts.set(authInfo.extra, context);
    return this.#bus.serving(orgId, () => this.#modern.fetch(request, { parsedBody, authInfo }));
  }

  /** Tells the organization's subscribers that the list of tools may have changed. */
  toolsChanged(orgId: string): void {
    this.#bus.publishTo(orgId, TOOLS_CHANGED);
  }

  /** The same for every organization, after a time in which changes may have gone unnoticed. */
  anyToolsChanged(): void {
    this.#bus.publishToAll(TOOLS_CHANGED);
  }

  /** Ends subscriptions and whatever is under way. */
  close(): Promise<void> {
    return this.#modern.close();
  }

  async #answerEarlierRevision(request: Request, parsedBody: unknown, context: C): Promise<Response> {
    const server = this.#options.serverFor(context);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    try {
      await server.connect(transport);
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  }

  #contextOf(key: object | undefined): C {
    const context = key && this.#contexts.get(key);
    if (context === undefined) throw new Error("a call reached the gateway without its context");
    return context;
  }
}

/** What of a request concerns the protocol. The specification lets clients leave `Accept` out; the SDK does not. */
function acceptingBoth(headers: IncomingHttpHeaders): Headers {
  const forwarded = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith("mcp-") || name === "content-type") forwarded.set(name, String(value));
  forwarded.set("accept", "application/json, text/event-stream");
  return forwarded;
}
