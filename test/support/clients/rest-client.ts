/** A response of the service, with its body read. */
export interface HttpResponse {
  status: number;
  headers: Headers;
  // Bodies differ between tests. Each test asserts the fields that it uses.
  body: Record<string, unknown>;
  text: string;
}

/** Calls the REST API and returns every response, including errors. */
export class RestClient {
  readonly #base: string;
  readonly #token: string | null;

  constructor(base: string, token: string | null) {
    this.#base = base;
    this.#token = token;
  }

  /** Returns a client with another token, or with none. */
  as(token: string | null): RestClient {
    return new RestClient(this.#base, token);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.send("GET", path, { headers });
  }

  delete(path: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.send("DELETE", path, { headers });
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.send("POST", path, {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  }

  deploy(body: unknown, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.post("/v1/apps/deploy", body, headers);
  }

  async send(
    method: string,
    path: string,
    init: { body?: string | Buffer<ArrayBuffer>; headers?: Record<string, string> },
  ): Promise<HttpResponse> {
    const authorization = this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
    const response = await fetch(`${this.#base}${path}`, {
      method,
      headers: { ...authorization, ...init.headers },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text), text };
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
