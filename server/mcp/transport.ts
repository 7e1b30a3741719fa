import type { IncomingHttpHeaders } from "node:http";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

import { OrganizationBus } from "./organization-bus.ts";

const NO_AUTH = { token: "", clientId: "", scopes: [] };

/**
 * MCP over HTTP without sessions, every revision from one server per request. A request of 2026-07-28 says so in its
 * body; all others are served by the transport of the earlier revisions, in its JSON form.
 *
 * @typeParam C - what a server needs to know of the call it serves
 */
export class McpTransport<C extends object> {
  readonly #bus = new OrganizationBus();
  readonly #serverFor: (context: C) => Server;
  readonly #modern: McpHttpHandler;
  /** The SDK carries one thing from the request to the server, and it has to be plain data: a key for the context. */
  readonly #contexts = new WeakMap<object, C>();

  constructor(serverFor: (context: C) => Server, onError: (error: Error) => void) {
    this.#serverFor = serverFor;
    this.#modern = createMcpHandler(({ authInfo }) => serverFor(this.#contextOf(authInfo?.extra)), {
      legacy: "reject",
      bus: this.#bus,
      onerror: onError,
    });
  }

  /** Answers one POST. A subscription's answer has a body that stays open until it is canceled. */
  async answer(headers: IncomingHttpHeaders, parsedBody: unknown, orgId: string, context: C): Promise<Response> {
    const request = new Request("http://gateway/mcp", { method: "POST", headers: acceptingBoth(headers) });
    if (await isLegacyRequest(request, parsedBody)) return this.#answerEarlierRevision(request, parsedBody, context);
    const authInfo = { ...NO_AUTH, extra: {} };
    this.#contexts.set(authInfo.extra, context);
    return this.#bus.serving(orgId, () => this.#modern.fetch(request, { parsedBody, authInfo }));
  }

  /** Tells the organization's subscribers that the list of tools may have changed. */
  toolsChanged(orgId: string): void {
    this.#bus.publishTo(orgId, { kind: "tools_list_changed" });
  }

  /** Ends subscriptions and whatever is under way. */
  close(): Promise<void> {
    return this.#modern.close();
  }

  async #answerEarlierRevision(request: Request, parsedBody: unknown, context: C): Promise<Response> {
    const server = this.#serverFor(context);
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
