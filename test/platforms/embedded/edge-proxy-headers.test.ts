import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { openTestPlatform, sendRequest } from "../../support/edge/test-platform.ts";
import { webSocketApp } from "../../support/edge/web-socket-app.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const ECHO = `export default { async fetch(request) {
  const { method, url, headers } = request;
  return Response.json({ method, url, headers: Object.fromEntries(headers), body: await request.text() });
} }`;

test("an Authorization header without a token of the service is forwarded to the app unchanged", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const values = ["Basic dXNlcjpwYXNz", "Bearer eyJhbGciOi.svk_x-svp_y", "Digest username=x", "svc_x"];
  const seen = values.map(async (authorization) => {
    const { headers } = JSON.parse((await t.request("shop", "/", { headers: { authorization } })).text);
    return [headers.authorization, headers["x-service-auth"]];
  });
  expect(await Promise.all(seen)).toEqual(values.map((value) => [value, undefined]));
});

verifies(hazard(30), "an app never receives a token of the service in the Authorization header", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const tokens = [
    "Bearer svk_x",
    "bearer svp_x",
    "Bearer  svg_x",
    "sva_x",
    "Token svk_x",
    "Bearer SVK_x",
    'Bearer "svp_x"',
  ];
  const lists = [...tokens, ["Basic dXNlcjpwYXNz", "Bearer svk_x"], ["Basic dXNlcjpwYXNz", "Bearer sva_x"]];
  const seen = lists.map(async (authorization) => {
    const { status, text } = await t.request("shop", "/", { headers: { authorization } });
    return [status, JSON.parse(text).headers.authorization];
  });
  expect(await Promise.all(seen)).toEqual([
    ...tokens.map(() => [200, undefined]),
    [200, "Basic dXNlcjpwYXNz"],
    [200, "Basic dXNlcjpwYXNz"],
  ]);
});

test("a client cannot set headers that are reserved for the platform, in any spelling that a server may fold", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const forged = {
    "X-Service-Auth": "app",
    "x-service-anything": "1",
    "MF-CF-Blob": "{}",
    "CF-Connecting-IP": "1.2.3.4",
    x_service_auth: "app",
    "X-Service_Auth": "app",
    X_SERVICE_ORG_ID: "1",
    "x.service.auth": "app",
    x_forwarded_for: "1.2.3.4",
    cf_connecting_ip: "1.2.3.4",
    x_request_id: "forged",
    content_length: "1",
    transfer_encoding: "chunked",
    x_servicename: "kept",
    api_key: "kept",
  };
  const { headers } = JSON.parse((await t.request("shop", "/", { headers: forged })).text);
  const received = Object.keys(forged).filter((name) => name.toLowerCase() in headers);
  expect([received, headers["cf-connecting-ip"]]).toEqual([
    ["CF-Connecting-IP", "x_servicename", "api_key"],
    "127.0.0.1",
  ]);
});

test("an app cannot set a cookie for the domain of all apps or a parent of it", async () => {
  await using t = await openTestPlatform({ appsDomain: "apps.example.com:8443" });
  const cookies = [
    "own=1",
    "own=2; Domain=shop.apps.example.com",
    "own=3; Domain=",
    "own=domain=apps.example.com",
    "shared=1; Domain=apps.example.com",
    "shared=2; path=/; DOMAIN = .Apps.Example.com. ; Secure",
    "shared=3; Domain=example.com",
    "shared=4; Domain=shop.apps.example.com; Domain=apps.example.com",
  ];
  await t.publish(
    "shop",
    `export default { fetch() {
    const headers = new Headers();
    for (const cookie of ${JSON.stringify(cookies)}) headers.append("Set-Cookie", cookie);
    return new Response("ok", { headers });
  } }`,
  );
  const { headers } = await sendRequest(t.platform.port, "shop.apps.example.com");
  expect(headers["set-cookie"]).toEqual(cookies.filter((cookie) => cookie.startsWith("own")));
});

test("an app cannot set a cookie for the domain of all apps in the response that opens a WebSocket", async () => {
  await using t = await openTestPlatform({ appsDomain: "apps.example.com:8443" });
  await t.publish(
    "shop",
    webSocketApp([
      ["Set-Cookie", "own=1"],
      ["Set-Cookie", "shared=1; Domain=apps.example.com"],
    ]),
  );
  const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const headers = { ...upgrade, host: "shop.apps.example.com", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };
  const request = http.get({ host: "127.0.0.1", port: t.platform.port, headers });
  const [response] = (await once(request, "upgrade")) as [IncomingMessage];
  response.socket.destroy();
  expect(response.headers["set-cookie"]).toEqual(["own=1"]);
});

test("response headers of up to 64 KiB are forwarded, and 502 says that larger ones are not", async () => {
  await using t = await openTestPlatform();
  await t.publish(
    "shop",
    `export default { fetch(request) {
    const length = Number(new URL(request.url).searchParams.get("length"));
    return new Response("ok", { headers: { "x-large": "x".repeat(length) } });
  } }`,
  );
  const [large, tooLarge] = [await t.request("shop", "/?length=60000"), await t.request("shop", "/?length=70000")];
  expect([large.status, large.headers["x-large"]?.length]).toEqual([200, 60_000]);
  expect([tooLarge.status, tooLarge.text]).toEqual([
    502,
    '{"error":"The headers of the app\'s response exceed 64 KiB."}',
  ]);
});

/** Headers by which a client or a proxy could name the client of a request. */
const CLIENT_HEADERS = {
  "x-forwarded-for": "198.51.100.1, 203.0.113.7",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "evil.example",
  "x-real-ip": "198.51.100.1",
  "true-client-ip": "198.51.100.1",
  "cf-ipcountry": "XX",
  forwarded: "for=198.51.100.1;proto=https",
};

/** Those of the headers that the app receives. They are equal for a plain request and for a WebSocket request. */
async function receivedHeaders(trustedProxies: string[]): Promise<Record<string, string>> {
  await using t = await openTestPlatform({ trustedProxies });
  await t.publish("shop", ECHO);
  const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const [plain, upgraded] = await Promise.all(
    [{}, upgrade].map(async (more) => {
      const response = await t.request("shop", "/", { headers: { ...CLIENT_HEADERS, ...more } });
      const headers = Object.entries(JSON.parse(response.text).headers as Record<string, string>);
      return Object.fromEntries(headers.filter(([name]) => name in CLIENT_HEADERS || name === "cf-connecting-ip"));
    }),
  );
  expect(upgraded).toEqual(plain);
  return plain!;
}

test("an app receives only the client address that a trusted proxy added last", async () => {
  expect(await receivedHeaders(["127.0.0.0/8"])).toEqual({
    "cf-connecting-ip": "203.0.113.7",
    "x-forwarded-for": "203.0.113.7",
    "x-forwarded-proto": "https",
    "x-forwarded-host": expect.stringMatching(/^shop\.localhost:\d+$/),
  });
});

test("an app receives none of the client addresses that an untrusted client sends", async () => {
  const actual = {
    "cf-connecting-ip": "127.0.0.1",
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-proto": "http",
    "x-forwarded-host": expect.stringMatching(/^shop\.localhost:\d+$/),
  };
  expect([await receivedHeaders([]), await receivedHeaders(["192.0.2.1"])]).toEqual([actual, actual]);
});

test("hop-by-hop headers are not forwarded", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const hops = {
    connection: "close, X-Private",
    "x-private": "1",
    te: "trailers",
    "proxy-authorization": "x",
    "keep-alive": "5",
  };
  const { headers } = JSON.parse((await t.request("shop", "/", { headers: { ...hops, "x-public": "2" } })).text);
  expect([headers["x-private"], headers.te, headers["proxy-authorization"], headers["x-public"]]).toEqual([
    undefined,
    undefined,
    undefined,
    "2",
  ]);
});

test("a valid request id is kept, any other is replaced, and the response contains it", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const kept = await t.request("shop", "/", { headers: { "x-request-id": "abc-123" } });
  const replaced = await t.request("shop", "/", { headers: { "x-request-id": "a b<script>" } });
  expect([JSON.parse(kept.text).headers["x-request-id"], kept.headers["x-request-id"]]).toEqual(["abc-123", "abc-123"]);
  expect(replaced.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
});
