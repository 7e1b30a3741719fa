import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { type Client, createClient, ServiceError } from "../../clients/sdk/src/client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let client: Client;
let url: string;

beforeAll(async () => {
  tenant = await service().tenant();
  url = service().service.publicUrl;
  client = createClient({ url, token: tenant.api_key });
});

/** Returns the error with which a call rejects. */
async function errorOf(call: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError))
    throw new Error("the call did not reject with a ServiceError", { cause: error });
  return error;
}

interface TestProxy extends AsyncDisposable {
  url: string;
  requests: IncomingMessage[];
}

/** Responds itself to the first requests, and forwards the others to the service. */
async function startProxy(...responses: ((response: ServerResponse) => void)[]): Promise<TestProxy> {
  const requests: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    const respond = responses[requests.length];
    requests.push(request);
    if (respond !== undefined) return respond(response);
    void forward(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  const proxyUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: proxyUrl, requests, [Symbol.asyncDispose]: close };
}

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { host: _host, connection: _connection, ...headers } = request.headers;
  const method = request.method ?? "GET";
  const body = method === "GET" ? undefined : Buffer.concat(chunks);
  const result = await fetch(`${url}${request.url}`, {
    method,
    headers: headers as Record<string, string>,
    body: body!,
  });
  response.writeHead(result.status, { "content-type": result.headers.get("content-type") ?? "" });
  response.end(await result.text());
}

/** Returns a URL with a port on which nothing listens. */
async function findClosedUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

const breakOff = (response: ServerResponse): void => void response.socket?.destroy();
const badGateway = (response: ServerResponse): void =>
  void response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad Gateway</html>");
const slowDown = (seconds: string) => (response: ServerResponse) =>
  void response.writeHead(429, { "content-type": "text/html", "retry-after": seconds }).end("<html></html>");

test("every reason to reject a call has its code, the status, the request id and the message of the service", async () => {
  const missing = await errorOf(client.apps.get({ id: crypto.randomUUID() }));
  expect([missing.code, missing.status, missing.requestId]).toEqual(["not_found", 404, expect.any(String)]);
  const invalid = await errorOf(client.apps.deploy({ repo: "nothing" }));
  expect([invalid.code, invalid.issues]).toEqual([
    "invalid",
    [{ path: ["repo"], message: expect.stringContaining("owner/name") }],
  ]);
  const unknown = await errorOf(createClient({ url, token: "svk_unknown" }).apps.list());
  expect([unknown.code, unknown.status]).toEqual(["unauthenticated", 401]);
});

test("a query is repeated after a broken connection and after the error of a proxy", async () => {
  await using proxy = await startProxy(breakOff, badGateway);
  const { apps } = await createClient({ url: proxy.url, token: tenant.api_key }).apps.list();
  expect([apps, proxy.requests.length]).toEqual([[], 3]);
});

test("a mutation that may have happened is not repeated", async () => {
  await using proxy = await startProxy(breakOff);
  const through = createClient({ url: proxy.url, token: tenant.api_key });
  const error = await errorOf(through.servers.create({ name: "Support" }));
  expect([error.code, proxy.requests.length]).toEqual(["network", 1]);
});

test("a mutation with an idempotency key is repeated, and happens once", async () => {
  const owner = await service().tenant();
  await using proxy = await startProxy((response) => {
    // The service has executed the call, and its response gets lost.
    const [request] = proxy.requests;
    void forward(request!, { writeHead: () => undefined, end: () => breakOff(response) } as unknown as ServerResponse);
  });
  const through = createClient({ url: proxy.url, token: owner.api_key });
  const app = await through.apps.deploy({ repo: "acme/site" });
  const keys = proxy.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(new Set(keys).size).toBe(1);
  expect(keys).toEqual([expect.any(String), expect.any(String)]);
  const { apps } = await through.apps.list();
  expect(apps.map(({ id }) => id)).toEqual([app.app_id]);
});

test("two calls with the same idempotency key create one app", async () => {
  const owner = await service().tenant();
  const own = createClient({ url, token: owner.api_key });
  const deploy = () => own.apps.deploy({ repo: "acme/site" }, { idempotencyKey: "once" });
  expect((await deploy()).app_id).toBe((await deploy()).app_id);
  expect((await errorOf(own.apps.deploy({ repo: "acme/other" }, { idempotencyKey: "once" }))).code).toBe("key_reused");
});

test("a rate limit is waited for if it is short, and is an error with the time if it is long", async () => {
  await using short = await startProxy(slowDown("1"));
  await createClient({ url: short.url, token: tenant.api_key }).apps.list();
  expect(short.requests.length).toBe(2);
  await using long = await startProxy(slowDown("3600"));
  const error = await errorOf(createClient({ url: long.url, token: tenant.api_key }).apps.list());
  expect([error.code, error.retryAfterSeconds, long.requests.length]).toEqual(["rate_limited", 3600, 1]);
});

test("maxRetries limits how often a call is repeated", async () => {
  await using proxy = await startProxy(breakOff, breakOff, breakOff, breakOff);
  const through = createClient({ url: proxy.url, token: tenant.api_key, maxRetries: 1 });
  expect((await errorOf(through.apps.list())).code).toBe("network");
  expect((await errorOf(through.apps.list({}, { maxRetries: 0 }))).code).toBe("network");
  expect(proxy.requests.length).toBe(3);
});

test("an aborted signal ends a call and its waits with the reason of the signal", async () => {
  await using proxy = await startProxy(slowDown("20"));
  const through = createClient({ url: proxy.url, token: tenant.api_key });
  const controller = new AbortController();
  const call = through.apps.list({}, { signal: controller.signal });
  await expect.poll(() => proxy.requests.length).toBe(1);
  controller.abort(new Error("changed my mind"));
  await expect(call).rejects.toThrow("changed my mind");
  await expect(through.apps.list({}, { signal: AbortSignal.abort(new Error("too late")) })).rejects.toThrow("too late");
});

test("a service that does not respond in time is a timeout", async () => {
  await using proxy = await startProxy(() => undefined);
  const through = createClient({ url: proxy.url, token: tenant.api_key });
  expect((await errorOf(through.apps.list({}, { timeoutMs: 100 }))).code).toBe("timeout");
});

test("the page of a proxy, a redirect and a closed port are errors that name the URL and what to check", async () => {
  const page = (response: ServerResponse): void =>
    void response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<html>Sign in</html>");
  const redirect = (response: ServerResponse): void =>
    void response.writeHead(302, { location: "https://sso/x" }).end();
  await using proxy = await startProxy(page, redirect);
  const through = createClient({ url: proxy.url, token: tenant.api_key });
  const html = await errorOf(through.apps.list());
  expect([html.code, html.message]).toEqual(["invalid_response", expect.stringContaining("text/html")]);
  const redirected = await errorOf(through.apps.list());
  expect([redirected.code, redirected.message]).toEqual(["invalid_response", expect.stringContaining("https://sso/x")]);
  const closedUrl = await findClosedUrl();
  const closed = await errorOf(createClient({ url: closedUrl, token: "x", maxRetries: 0 }).apps.list());
  const message = `Cannot reach ${closedUrl}: the connection was refused. Check the URL and the network.`;
  expect([closed.code, closed.message]).toEqual(["network", message]);
});

test("an invalid URL or token is rejected when the client is created", () => {
  expect(() => createClient({ url: "apps.example.com", token: "x" })).toThrow(/absolute http or https URL/);
  expect(() => createClient({ url: "ftp://apps.example.com", token: "x" })).toThrow(TypeError);
  expect(() => createClient({ url, token: "" })).toThrow("token: must not be empty");
});

test("a token that no header can contain is rejected without showing it", async () => {
  for (const token of ["svk_secret\nx", "svk_secret x", "svk_secrét", () => "svk_secret\r"]) {
    const { code, message } = await errorOf(createClient({ url, token }).apps.list());
    expect([code, message]).toEqual(["unauthenticated", expect.not.stringContaining("svk_")]);
  }
});

test("a function that returns the token is called again when the service rejects the token", async () => {
  const states: boolean[] = [];
  const token = ({ isRejected }: { isRejected: boolean }): string => {
    states.push(isRejected);
    return isRejected ? tenant.api_key : "svk_expired";
  };
  expect(await createClient({ url, token }).apps.list()).toEqual({ apps: [] });
  expect(states).toEqual([false, true]);
});

test("the organization of the client is the organization of its calls", async () => {
  const user = new TestUser(url);
  await user.signUp();
  const token = await user.accessToken();
  const foreign = createClient({ url, token, organization: tenant.org_id });
  expect((await errorOf(foreign.apps.list())).code).toBe("forbidden");
});

test("a followed log continues after the last line when the connection breaks off", async () => {
  const app = await service().givenApp(tenant, { status: "ready" });
  const events = ["id: 1-5\ndata: one\n\n", ": keep-alive\n\nid: 1-9\ndata: two", "\n\n"];
  await using proxy = await startProxy(
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of events) response.write(event);
      setTimeout(() => breakOff(response), 50);
    },
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end('id: 1-12\nevent: end\ndata: {"status":"ready","status_message":null,"error":null}\n\n');
    },
  );
  const through = createClient({ url: proxy.url, token: tenant.api_key });
  const received = await Array.fromAsync(through.followBuildLog({ id: app.id }));
  expect(received).toEqual([
    { type: "line", line: "one" },
    { type: "line", line: "two" },
    { type: "end", status: "ready", status_message: null, error: null },
  ]);
  expect(proxy.requests.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "1-9"]);
});
