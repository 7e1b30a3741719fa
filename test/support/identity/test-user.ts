import { randomUUID } from "node:crypto";
import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { Answer } from "../clients/rest-client.ts";

/** Someone at a browser: keeps cookies, and asks the identity provider as its pages do. */
export class Person {
  readonly email: string;
  readonly password: string;
  readonly #base: string;
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  constructor(base: string, email = `${randomUUID()}@example.com`, password = "correct horse battery", origin = base) {
    this.#base = base;
    this.#origin = origin;
    this.email = email;
    this.password = password;
  }

  signUp(more: object = {}): Promise<Answer> {
    return this.post("/sign-up/email", { name: "Ada", email: this.email, password: this.password, ...more });
  }

  signIn(password: string = this.password): Promise<Answer> {
    return this.post("/sign-in/email", { email: this.email, password });
  }

  /** An access token for REST and typed RPC. */
  async accessToken(): Promise<string> {
    return String((await this.get("/token")).body["token"]);
  }

  get(path: string): Promise<Answer> {
    return this.send("GET", `/api/auth${path}`);
  }

  post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("POST", `/api/auth${path}`, {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", origin: this.#origin, ...headers },
    });
  }

  /** Goes to a page, as a browser does it: `fetch` says that a script of a page asks. */
  async visit(path: string): Promise<Answer> {
    const headers = { accept: "text/html", "sec-fetch-mode": "navigate", ...this.#cookie() };
    const request = http.get(new URL(path, this.#base), { headers, agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    for (const line of response.headers["set-cookie"] ?? []) this.#keep(line);
    const given = response.headersDistinct;
    const pairs = Object.entries(given).flatMap(([name, values = []]) => values.map((value) => [name, value]));
    return {
      ...{ status: response.statusCode ?? 0, body: {}, text: await text(response) },
      headers: new Headers(pairs as [string, string][]),
    };
  }

  async send(
    method: string,
    path: string,
    init: { body?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const response = await fetch(new URL(path, this.#base), {
      method,
      redirect: "manual",
      headers: { ...this.#cookie(), ...init.headers },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text.startsWith("{") ? JSON.parse(text) : {},
      text,
    };
  }

  #cookie(): { cookie?: string } {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return cookie === "" ? {} : { cookie };
  }

  #keep(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === "" || /max-age=0/i.test(line)) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}
