import type { IncomingHttpHeaders } from "node:http";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { McpPost } from "./fast-path.ts";
import { SubscriptionBus } from "./subscription-bus.ts";

const TOOLS_CHANGED = { kind: "tools_list_changed" } as const;
const NO_AUTH = { token: "", clientId: "", scopes: [] };

export interface McpTransportOptions<C> {
  /** Creates the server that serves one request. */
  createServer(call: C): Server;
  onError(error: Error): void;
}

/**
 * Serves MCP over HTTP with the SDK: without sessions, all revisions, one server per request. A request of 2026-07-28 says
 * so in its body. The transport of the earlier revisions serves all others, with JSON responses.
 *
 * @typeParam C - describes a call to its server
 */
export class McpTransport<C extends object> {
  readonly #bus = new SubscriptionBus();
  readonly #options: McpTransportOptions<C>;
  readonly #modern: McpHttpHandler;
  /** The SDK passes only plain data from the request to the server. This data is an object that identifies the call. */
  readonly #callByKey = new WeakMap<object, C>();

  constructor(options: McpTransportOptions<C>) {
    this.#options = options;
    this.#modern = createMcpHandler(({ authInfo }) => options.createServer(this.#getCall(authInfo?.extra)), {
      legacy: "reject",
      bus: this.#bus,
      // The gateway limits the open streams of all revisions together.
      maxSubscriptions: Number.POSITIVE_INFINITY,
      onerror: (error) => options.onError(error),
    });
  }

  /** Responds to a POST of an organization. The body of a subscription's response stays open until it is canceled. */
  async respond({ headers, parsedBody }: McpPost, orgId: string, call: C): Promise<Response> {
    const request = new Request("http://gateway/mcp", { method: "POST", headers: toProtocolHeaders(headers) });
    if (await isLegacyRequest(request, parsedBody)) return this.#respondToEarlierRevision(request, parsedBody, call);
    const authInfo = { ...NO_AUTH, extra: {} };
    this.#callByKey.set(authInfo.extra, call);
    return this.#bus.run(orgId, () => this.#modern.fetch(request, { parsedBody, authInfo }));
  }

  /** Notifies the organization's subscribers that the list of tools may have changed. */
  notifyToolsChanged(orgId: string): void {
    this.#bus.publishTo(orgId, TOOLS_CHANGED);
  }

  /** Notifies the subscribers of every organization, after a time in which changes may have been missed. */
  notifyAll(): void {
    this.#bus.publishToAll(TOOLS_CHANGED);
  }

  /** Ends subscriptions and running requests. */
  close(): Promise<void> {
    return this.#modern.close();
  }

  async #respondToEarlierRevision(request: Request, parsedBody: unknown, call: C): Promise<Response> {
    const server = this.#options.createServer(call);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    try {
      await server.connect(transport);
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  }

  #getCall(key: object | undefined): C {
    const call = key && this.#callByKey.get(key);
    if (call === undefined) throw new Error("the SDK passed no call to the server");
    return call;
  }
}

/** The headers of the protocol. The specification lets clients omit `Accept`; the SDK does not. */
function toProtocolHeaders(headers: IncomingHttpHeaders): Headers {
  const forwarded = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith("mcp-") || name === "content-type") forwarded.set(name, String(value));
  forwarded.set("accept", "application/json, text/event-stream");
  return forwarded;
}
