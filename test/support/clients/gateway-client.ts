export interface GatewayResponse {
  status: number;
  headers: Headers;
  text: string;
  // Bodies differ between tests. Each test asserts the fields that it uses.
  body: { result?: Record<string, unknown>; error?: { code: number; message: string; data?: unknown } };
}

export interface ToolResult {
  isError: boolean;
  structuredContent: Record<string, unknown>;
  text: string;
}

/** Calls the tool gateway with the minimum that the specification requires: one POST with a token and a content type. */
export class GatewayClient {
  readonly #url: string;
  readonly #token: string | null;

  constructor(publicUrl: string, token: string | null) {
    this.#url = `${publicUrl}/mcp`;
    this.#token = token;
  }

  as(token: string | null): GatewayClient {
    return new GatewayClient(this.#url.slice(0, -"/mcp".length), token);
  }

  call(method: string, params?: object, headers: Record<string, string> = {}): Promise<GatewayResponse> {
    return this.send(
      JSON.stringify({ jsonrpc: "2.0", id: 1, method, ...(params === undefined ? {} : { params }) }),
      headers,
    );
  }

  /** Lists the tools of this token. */
  async tools(): Promise<Record<string, unknown>[]> {
    const { result = {} } = (await this.call("tools/list")).body;
    return (result["tools"] ?? []) as Record<string, unknown>[];
  }

  /** Calls a tool and returns its result. */
  async tool(name: string, input: object = {}): Promise<ToolResult> {
    const { result = {} } = (await this.call("tools/call", { name, arguments: input })).body;
    const { content, structuredContent, isError } = result as Partial<ToolResult> & { content?: { text: string }[] };
    return { isError: isError === true, structuredContent: structuredContent ?? {}, text: content?.[0]?.text ?? "" };
  }

  async send(
    body: string | undefined,
    headers: Record<string, string> = {},
    method = "POST",
  ): Promise<GatewayResponse> {
    const authorization = this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
    const response = await fetch(this.#url, {
      method,
      headers: { ...authorization, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text.startsWith("{") ? JSON.parse(text) : {},
    };
  }
}
