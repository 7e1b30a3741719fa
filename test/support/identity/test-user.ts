import { randomUUID } from "node:crypto";
import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { HttpResponse } from "../clients/rest-client.ts";

/** A user with a browser: keeps cookies, and calls the identity provider as the dashboard does. */
export class TestUser {
  readonly email: string;
  readonly password: string;
  readonly #base: string;
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  /** @param origin - the `Origin` header of the user's requests */
  constructor(base: string, email = `${randomUUID()}@example.com`, password = "correct horse battery", origin = base) {
    this.#base = base;
    this.#origin = origin;
    this.email = email;
    this.password = password;
  }

  /** @param extraFields - further fields of the request body */
  signUp(extraFields: object = {}): Promise<HttpResponse> {
    return this.post("/sign-up/email", { name: "Ada", email: this.email, password: this.password, ...extraFields });
  }

  signIn(password: string = this.password): Promise<HttpResponse> {
    return this.post("/sign-in/email", { email: this.email, password });
  }

  /** Returns an access token for REST and typed RPC. */
  async accessToken(): Promise<string> {
    return String((await this.get("/token")).body["token"]);
  }

  /** Returns the cookies for a browser, which is then signed in as this user. */
  browserCookies(): { name: string; value: string; url: string }[] {
    return [...this.#cookies].map(([name, value]) => ({ name, value, url: this.#base }));
  }

  /** @param path - below `/api/auth` */
  get(path: string): Promise<HttpResponse> {
    return this.send("GET", `/api/auth${path}`);
  }

  /** @param path - below `/api/auth` */
  post(path: string, body: object, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.send("POST", `/api/auth${path}`, {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", origin: this.#origin, ...headers },
    });
  }

  /** Opens a page like a browser. `fetch` cannot do that: its requests have the headers of a script. */
  async visit(path: string): Promise<HttpResponse> {
    const headers = { accept: "text/html", "sec-fetch-mode": "navigate", ...this.#cookieHeader() };
    const request = http.get(new URL(path, this.#base), { headers, agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    for (const line of response.headers["set-cookie"] ?? []) this.#storeCookie(line);
    const pairs = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    return {
      status: response.statusCode ?? 0,
      headers: new Headers(pairs),
      body: {},
      text: await text(response),
    };
  }

  async send(
    method: string,
    path: string,
    init: { body?: string; headers?: Record<string, string> } = {},
  ): Promise<HttpResponse> {
    const response = await fetch(new URL(path, this.#base), {
      method,
      redirect: "manual",
      headers: { ...this.#cookieHeader(), ...init.headers },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    for (const line of response.headers.getSetCookie()) this.#storeCookie(line);
    const responseText = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: responseText.startsWith("{") ? JSON.parse(responseText) : {},
      text: responseText,
    };
  }

  #cookieHeader(): { cookie?: string } {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return cookie === "" ? {} : { cookie };
  }

  #storeCookie(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === "" || /max-age=0/i.test(line)) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}

/** Returns an IPv6 address in a random network, so that rate limits of other tests do not apply to it. */
export function randomAddress(): string {
  const group = () =>
    Math.floor(Math.random() * 0x10000)
      .toString(16)
      .padStart(4, "0");
  return `2001:db8:${group()}:${group()}::1`;
}
