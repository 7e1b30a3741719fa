import { fastify, type InjectOptions } from "fastify";
import { expect, test } from "vitest";
import { identityPlugin } from "../../server/identity/plugin.ts";
import { sendRequestError } from "../../server/rest/error-response.ts";
import { randomAddress } from "../support/identity/test-user.ts";

const ORIGIN = "http://localhost:3000";
const AUTHORIZE = "/api/auth/oauth2/authorize";
const CALLBACK = "/api/auth/callback/github";
const SIGN_IN = "/api/auth/sign-in/email";
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'";
const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Opens the HTTP endpoints before a provider that responds as given, and records the requests that reach it. */
function openEndpoints(respond: (request: Request) => Response | Promise<Response> = () => new Response("{}")) {
  const requests: Request[] = [];
  const server = fastify({ trustProxy: true });
  server.setErrorHandler(sendRequestError);
  const handler = async (request: Request) => {
    requests.push(request);
    return respond(request);
  };
  void server.register(identityPlugin({ auth: () => Promise.resolve({ handler }), publicUrl: () => ORIGIN }));
  const send = async (options: InjectOptions & { from?: string }) => {
    const { from = randomAddress(), headers, ...rest } = options;
    return server.inject({ ...rest, headers: { "x-forwarded-for": from, ...headers } });
  };
  const post = (url: string, from?: string) =>
    send({ method: "POST", url, headers: FORM, payload: "a=b", ...(from !== undefined && { from }) });
  return { requests, send, post };
}

function redirectTo(location: string, headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 302, headers: { location, ...headers } });
}

test("a request reaches the provider with its body and headers, its client address, and the public origin", async () => {
  const { requests, send } = openEndpoints();
  const headers = { ...FORM, "x-client-address": "forged", dpop: "a proof", authorization: "Bearer x", cookie: "a=b" };
  const url = `http://elsewhere.example.com${SIGN_IN}?x=1&y=2`;
  await send({ method: "POST", url, headers, payload: "a=b", from: "192.0.2.7" });
  const [request] = requests;
  expect([request!.method, request!.url, await request!.text()]).toEqual([
    "POST",
    `${ORIGIN}${SIGN_IN}?x=1&y=2`,
    "a=b",
  ]);
  const names = ["x-client-address", "dpop", "authorization", "cookie", "content-type"];
  const values = names.map((name) => request!.headers.get(name));
  expect(values).toEqual(["192.0.2.7", null, "Bearer x", "a=b", FORM["content-type"]]);
  await send({ url: SIGN_IN });
  expect([requests[1]!.method, requests[1]!.body]).toEqual(["GET", null]);
});

test("the credentials of a registration and the body of a GET request are not passed on", async () => {
  const { requests, send } = openEndpoints();
  const url = "/api/auth/oauth2/register";
  await send({ method: "POST", url, headers: { ...FORM, authorization: "Bearer x" }, payload: "a=b" });
  expect(requests.pop()!.headers.get("authorization")).toBeNull();
  await send({ method: "GET", url: "/api/auth/get-session", headers: FORM, payload: "a=b" });
  expect(requests[0]!.body).toBeNull();
});

test("the response of the provider is passed on with all cookies, and is not cached", async () => {
  const response = new Response("a body", { status: 202, headers: { "x-header": "1", "content-type": "text/html" } });
  for (const cookie of ["a=1", "b=2"]) response.headers.append("set-cookie", cookie);
  const { send } = openEndpoints(() => response);
  const { statusCode, body, headers } = await send({ url: "/api/auth/get-session" });
  expect([statusCode, body, headers["set-cookie"]]).toEqual([202, "a body", ["a=1", "b=2"]]);
  expect(headers).toMatchObject({
    "x-header": "1",
    "content-type": "text/html",
    "cache-control": "no-store",
    "content-security-policy": CONTENT_SECURITY_POLICY,
  });
  const empty = await openEndpoints(() => new Response(null)).send({ url: "/api/auth/get-session" });
  expect([empty.statusCode, empty.body, empty.headers["set-cookie"]]).toEqual([200, "", undefined]);
});

test("HEAD is not a method of the identity provider", async () => {
  const { send } = openEndpoints();
  for (const url of ["/api/auth/error", "/api/auth/get-session", "/.well-known/openid-configuration"])
    expect([url, (await send({ method: "HEAD", url })).statusCode]).toEqual([url, 404]);
});

test("413 rejects a body of more than 64 KiB", async () => {
  const { send } = openEndpoints();
  const statusOf = async (length: number) =>
    (await send({ method: "POST", url: SIGN_IN, headers: FORM, payload: "x".repeat(length) })).statusCode;
  expect([await statusOf(64 * 1024), await statusOf(64 * 1024 + 1)]).toEqual([200, 413]);
});

test("every origin may read the metadata and ask for permission to, and no other endpoint", async () => {
  const { requests, send } = openEndpoints();
  for (const url of ["/.well-known/openid-configuration", "/api/auth/.well-known/openid-configuration"]) {
    expect((await send({ url })).headers["access-control-allow-origin"]).toBe("*");
    const { statusCode, body, headers } = await send({ method: "OPTIONS", url });
    expect([statusCode, body]).toEqual([204, ""]);
    expect(headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET",
      "access-control-allow-headers": "*",
      "access-control-max-age": "7200",
    });
  }
  expect(requests).toHaveLength(2);
  for (const method of ["GET", "OPTIONS"] as const)
    for (const url of ["/api/auth/jwks", "/api/auth/x/.well-known/y"]) {
      const { statusCode, headers } = await send({ method, url });
      expect([url, statusCode, headers["access-control-allow-origin"]]).toEqual([url, 200, undefined]);
    }
});

test("metadata does not offer DPoP, any other response stays as it is", async () => {
  const document = { issuer: ORIGIN, dpop_signing_alg_values_supported: ["ES256"] };
  const { send } = openEndpoints(() => Response.json(document));
  expect((await send({ url: "/.well-known/openid-configuration" })).json()).toEqual({ issuer: ORIGIN });
  expect((await send({ url: "/api/auth/x" })).json()).toEqual(document);
});

test("the metadata of the gateway has the name that the client uses, with or without a slash at its end", async () => {
  const { requests, send } = openEndpoints(() => Response.json({ resource: `${ORIGIN}/mcp` }));
  const headers = { host: "127.0.0.1:3000" };
  const path = "/.well-known/oauth-protected-resource/mcp";
  for (const url of [path, `${path}/`, `${path}//`]) {
    expect((await send({ url, headers })).json()).toEqual({ resource: "http://127.0.0.1:3000/mcp" });
    expect(requests.at(-1)!.url).toBe(ORIGIN + path);
  }
  expect((await send({ url: "/api/auth/x/", headers })).json()).toEqual({ resource: `${ORIGIN}/mcp` });
  expect(requests.at(-1)!.url).toBe(`${ORIGIN}/api/auth/x/`);
});

test("429 limits the requests of a network to 300 in a minute, and unauthenticated writes to 100 in an hour", async () => {
  const { requests, send, post } = openEndpoints();
  const from = "2001:db8::1";
  const urls = ["sign-up/email", "oauth2/register", "device/code", "./device/../sign-up/email"].map(
    (path) => `/api/auth/${path}`,
  );
  for (let at = 0; at < 100; at += 1) expect((await post(urls[at % 3]!, from)).statusCode).toBe(200);
  for (const url of urls) {
    const limited = await post(url, "2001:db8::2");
    expect([url, limited.statusCode, limited.json()]).toEqual([
      url,
      429,
      { error: "Too many requests from this address. Wait, then try again." },
    ]);
    expect(Number(limited.headers["retry-after"])).toBeGreaterThan(60);
  }
  expect((await send({ url: urls[0]!, from })).statusCode).toBe(200);
  expect((await post(urls[0]!)).statusCode).toBe(200);
  for (let at = 0; at < 195; at += 1) expect((await send({ url: "/api/auth/x", from })).statusCode).toBe(200);
  const before = requests.length;
  const limited = await send({ url: "/api/auth/x", from });
  expect([limited.statusCode, requests.length]).toEqual([429, before]);
  expect(Number(limited.headers["retry-after"])).toBeLessThanOrEqual(60);
  expect((await send({ url: "/api/auth/x" })).statusCode).toBe(200);
});

test("passwords from one network are checked one after the other, and other requests at the same time", async () => {
  const checks: PromiseWithResolvers<Response>[] = [];
  const { requests, send, post } = openEndpoints(({ url }) => {
    if (url.endsWith("/get-session")) return new Response("{}");
    checks.push(Promise.withResolvers<Response>());
    return checks.at(-1)!.promise;
  });
  const pending = [SIGN_IN, "/api/auth/change-password"].map((url) => post(url, "2001:db8::1"));
  await expect.poll(() => checks.length).toBe(1);
  // A request that need not wait overtakes the second check.
  await send({ url: "/api/auth/get-session", from: "2001:db8::1" });
  expect(checks).toHaveLength(1);
  const elsewhere = post(SIGN_IN);
  await expect.poll(() => checks.length).toBe(2);
  checks[0]!.resolve(new Response("{}"));
  await expect.poll(() => checks.length).toBe(3);
  for (const check of checks) check.resolve(new Response("{}"));
  const responses = await Promise.all([...pending, elsewhere]);
  expect([responses.map(({ statusCode }) => statusCode), requests.length]).toEqual([[200, 200, 200], 4]);
});

test("a browser gets a page that explains a failed authorization, and a script gets JSON", async () => {
  const error = { error: "invalid_client", error_description: "The document is <wrong>." };
  const { send } = openEndpoints(() => Response.json(error, { status: 400 }));
  const [html, json] = [{ accept: "text/html,*/*" }, { accept: "application/json" }];
  const page = await send({ url: AUTHORIZE, headers: html });
  expect([page.statusCode, page.body]).toEqual([400, expect.stringContaining("The document is &lt;wrong&gt;.")]);
  expect(page.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "referrer-policy": "no-referrer",
  });
  for (const options of [{ url: AUTHORIZE, headers: json }, { url: AUTHORIZE }, { url: SIGN_IN, headers: html }])
    expect((await send(options)).json()).toEqual(error);
  const accepted = openEndpoints(() => redirectTo("/consent"));
  const redirect = await accepted.send({ url: AUTHORIZE, headers: html });
  expect([redirect.statusCode, redirect.headers["location"], redirect.body]).toEqual([302, "/consent", ""]);
});

test("an error of an authorization that would open a program is shown instead of a redirect", async () => {
  const location = "cursor://callback?error=invalid_scope";
  const { send } = openEndpoints(() => redirectTo(location));
  expect((await send({ url: AUTHORIZE })).statusCode).toBe(400);
  expect((await send({ url: "/api/auth/x" })).headers["location"]).toBe(location);
});

test("the error page shows the code of the error, and only a known one", async () => {
  const { requests, send } = openEndpoints();
  const known = await send({ url: "/api/auth/error?error=invalid_scope" });
  expect([known.statusCode, known.headers["content-type"]]).toEqual([400, "text/html; charset=utf-8"]);
  expect(known.body).toContain("<code>invalid_scope</code>");
  expect((await send({ url: "/api/auth/error?error=Call+us" })).body).not.toContain("Call us");
  expect(requests).toEqual([]);
});

test("a failed sign-in with a provider leads to the sign-in page with an error code", async () => {
  const errorPage = `${ORIGIN}/api/auth/error`;
  const responses: [response: Response, code: string][] = [
    [redirectTo(`${errorPage}?error=state_mismatch`), "state_mismatch"],
    [redirectTo("/api/auth/error?error=access_denied&error_description=Call+us"), "access_denied"],
    ...["Call us", "", "x".repeat(65), "a.b", "<b>"].map((error): [Response, string] => [
      redirectTo(`${errorPage}?${new URLSearchParams({ error }).toString()}`),
      "sign_in_failed",
    ]),
    [redirectTo(errorPage), "sign_in_failed"],
    [
      redirectTo(`${errorPage}?error=${"x".repeat(64)}`, { "set-cookie": "service.session_token=; Max-Age=0" }),
      "x".repeat(64),
    ],
    [Response.json({ message: "no" }, { status: 400 }), "sign_in_failed"],
    [Response.json({}, { status: 500 }), "sign_in_failed"],
  ];
  for (const [response, code] of responses) {
    const { statusCode, headers } = await openEndpoints(() => response).send({ url: `${CALLBACK}?code=x` });
    expect([statusCode, headers["location"]]).toEqual([302, `/sign-in?error=${code}`]);
    expect(headers["cache-control"]).toBe("no-store");
  }
});

test("any other response to a callback is passed on, also an error after the user has signed in", async () => {
  const signedIn = { "set-cookie": "service.session_token=x; Path=/" };
  const page = `${ORIGIN}/api/auth/error?error=invalid_scope`;
  const locations = [redirectTo("/settings/account"), redirectTo(page, signedIn), redirectTo("http://[")];
  for (const response of locations) {
    const expected = response.headers.get("location");
    const { statusCode, headers } = await openEndpoints(() => response).send({ url: CALLBACK });
    expect([statusCode, headers["location"]]).toEqual([302, expected]);
  }
  expect((await openEndpoints(() => new Response("ok")).send({ url: CALLBACK })).body).toBe("ok");
  const failed = openEndpoints(() => redirectTo(page));
  for (const options of [{ method: "POST", url: CALLBACK }, { url: "/api/auth/x/callback/github" }] as const)
    expect((await failed.send(options)).headers["location"]).toBe(page);
});
