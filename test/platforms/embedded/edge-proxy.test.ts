import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { sendWholeBody } from "../../support/clients/send-whole-body.ts";
import { eventually, openTestPlatform, sendRequest } from "../../support/edge/test-platform.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const ECHO = `export default { async fetch(request) {
  const { method, url, headers } = request;
  return Response.json({ method, url, headers: Object.fromEntries(headers), body: await request.text() });
} }`;

/** The first line of the response to bytes that no HTTP client would send. */
async function firstLine(port: number, bytes: string): Promise<string | undefined> {
  const socket = connect(port, "127.0.0.1").setEncoding("latin1");
  socket.write(bytes);
  const [text] = (await once(socket, "data")) as [string];
  socket.destroy();
  return text.split("\r\n")[0];
}

const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");

test("404 is the response for a host without an app", async () => {
  await using t = await openTestPlatform();
  await t.publish("b", ECHO);
  const hosts = [
    "absent.localhost",
    "localhost",
    "a.b.localhost",
    "b.localhost.a",
    "evil.example",
    "..localhost",
    "%2e.localhost",
  ];
  const responses = await Promise.all(hosts.map((host) => sendRequest(t.platform.port, host)));
  expect(responses.map(({ status, text }) => [status, text])).toEqual(
    hosts.map(() => [404, '{"error":"There is no app at this address."}']),
  );
});

test("the host name of an app may be in any case, with and without port", async () => {
  await using t = await openTestPlatform({ appsDomain: "apps.example.com" });
  const { url } = await t.publish("shop", ECHO);
  const hosts = ["shop.apps.example.com", "SHOP.Apps.Example.com:8443", "shop.apps.example.com."];
  const responses = await Promise.all(hosts.map((host) => sendRequest(t.platform.port, host)));
  expect([url, responses.map(({ status }) => status)]).toEqual(["http://shop.apps.example.com", [200, 200, 200]]);
});

verifies(
  "apps.token.bearer",
  "an app with a valid app token in the request gets x-service-auth, but not the token",
  async () => {
    await using t = await openTestPlatform();
    await t.publish("shop", ECHO);
    await t.platform.authEntries.put({ appId: "app-shop", tokenSha256: sha256("sva_good") });
    const { headers } = JSON.parse(
      (await t.request("shop", "/", { headers: { authorization: "Bearer sva_good" } })).text,
    );
    expect([headers["x-service-auth"], headers.authorization]).toEqual(["app", undefined]);
  },
);

test("401 is the response to the token of another app", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  await t.publish("other", ECHO);
  await t.platform.authEntries.put({ appId: "app-shop", tokenSha256: sha256("sva_good") });
  await t.platform.authEntries.put({ appId: "app-other", tokenSha256: sha256("sva_other") });
  const response = await t.request("shop", "/", { headers: { authorization: "bearer sva_other" } });
  expect([response.status, response.headers["www-authenticate"], Object.keys(JSON.parse(response.text))]).toEqual([
    401,
    'Bearer error="invalid_token"',
    ["error"],
  ]);
});

test("a request with an invalid token does not start an app", async () => {
  await using t = await openTestPlatform({ limits: { idleMs: 0 } });
  await t.publish("shop", ECHO);
  await t.logged("idle app stopped");
  await t.request("shop", "/", { headers: { authorization: "Bearer sva_wrong" } });
  expect(t.platform.supervisor.active).toEqual([]);
});

test("a rotated or removed token takes effect on the next request", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const statusWith = async (token: string) =>
    (await t.request("shop", "/", { headers: { authorization: `Bearer ${token}` } })).status;
  await t.platform.authEntries.put({ appId: "app-shop", tokenSha256: sha256("sva_1") });
  const first = await statusWith("sva_1");
  await t.platform.authEntries.put({ appId: "app-shop", tokenSha256: sha256("sva_2") });
  const second = [await statusWith("sva_1"), await statusWith("sva_2")];
  await t.platform.authEntries.remove("app-shop");
  expect([first, second, await statusWith("sva_2")]).toEqual([200, [401, 200], 401]);
});

test("the previous token is valid beside the current one until it expires, and older tokens are not", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const statuses = () =>
    Promise.all(
      ["sva_2", "sva_1", "sva_0"].map(
        async (token) => (await t.request("shop", "/", { headers: { authorization: `Bearer ${token}` } })).status,
      ),
    );
  const put = (until: string) =>
    t.platform.authEntries.put({
      appId: "app-shop",
      tokenSha256: sha256("sva_2"),
      previous: { tokenSha256: sha256("sva_1"), until },
    });
  await put(new Date(Date.now() + 3_600_000).toISOString());
  expect(await statuses()).toEqual([200, 200, 401]);
  await put(new Date(Date.now() - 1).toISOString());
  expect(await statuses()).toEqual([200, 401, 401]);
  await put("not a time");
  expect(await statuses()).toEqual([200, 401, 401]);
});

verifies(hazard(63), "the token of a removed app is invalid for the next app at its slug", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  await t.platform.authEntries.put({ appId: "app-shop", tokenSha256: sha256("sva_old") });
  await t.platform.scripts.unpublish("shop");
  await t.platform.authEntries.remove("app-shop");
  await t.publish("shop", ECHO, { appId: "app-2", databaseId: "db-2" });
  await t.platform.authEntries.put({ appId: "app-2", tokenSha256: sha256("sva_new") });
  expect((await t.request("shop", "/", { headers: { authorization: "Bearer sva_old" } })).status).toBe(401);
});

test("400 is the response to a Host header with an invalid port", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const ports = ["99999", "65536", "000080", "123456789012345678901234567890"];
  const responses = await Promise.all(ports.map((port) => sendRequest(t.platform.port, `shop.localhost:${port}`)));
  expect(responses.map(({ status, text }) => [status, text])).toEqual(
    ports.map(() => [400, '{"error":"The port in the Host header is invalid."}']),
  );
});

test("a body arrives complete with every method, even without a content length", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const methods = ["POST", "PUT", "PATCH", "DELETE"];
  const responses = methods.flatMap((method) => [
    t.request("shop", "/?q=%2F", { method, body: "a body", headers: { "content-length": "6" } }),
    t.request("shop", "/?q=%2F", { method, body: "a body", headers: { "transfer-encoding": "chunked" } }),
  ]);
  expect((await Promise.all(responses)).map(({ text }) => JSON.parse(text).body)).toEqual(
    responses.map(() => "a body"),
  );
});

test("an app that responds without reading the body does not affect later requests", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", `export default { fetch: () => new Response("done") }`);
  const body = Buffer.alloc(300_000);
  for (let n = 0; n < 10; n++) expect((await t.request("shop", "/", { method: "POST", body })).text).toBe("done");
});

test("a client that sends its whole body first reads a response that was sent before", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", `export default { fetch: () => new Response("done") }`);
  const requests = [
    "Host: absent.localhost",
    "Host: shop.localhost\r\nAuthorization: Bearer sva_bad",
    "Host: shop.localhost",
  ];
  const responses = requests.map((headers) => sendWholeBody(t.platform.port, "/", headers));
  expect((await Promise.all(responses)).map((response) => response.split("\r\n")[0])).toEqual([
    "HTTP/1.1 404 Not Found",
    "HTTP/1.1 401 Unauthorized",
    "HTTP/1.1 200 OK",
  ]);
});

test("a large upload is streamed to the app", async () => {
  await using t = await openTestPlatform();
  await t.publish(
    "shop",
    `export default { async fetch(request) {
    let bytes = 0;
    for await (const chunk of request.body ?? []) bytes += chunk.byteLength;
    return new Response(String(bytes));
  } }`,
  );
  expect((await t.request("shop", "/", { method: "POST", body: Buffer.alloc(50_000_000) })).text).toBe("50000000");
});

test("an app with an invalid reason phrase still responds, and the edge proxy keeps running", async () => {
  await using t = await openTestPlatform();
  const script = `export default { fetch: () => new Response("ok", { statusText: "a\\x7fb" }) }`;
  await t.publish("shop", script);
  const responses = [await t.request("shop"), await t.request("shop")];
  expect(responses.map(({ status, text }) => [status, text])).toEqual([
    [200, "ok"],
    [200, "ok"],
  ]);
});

test("400 is the response to a request with two Host headers, because the app might use the other one", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const hosts = "Host: shop.localhost\r\nHost: other.localhost\r\n";
  expect(await firstLine(t.platform.port, `GET / HTTP/1.1\r\n${hosts}\r\n`)).toBe("HTTP/1.1 400 Bad Request");
});

test("a WebSocket request with a body is forwarded as a plain request with its body", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  const headers = "Host: shop.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n";
  expect(await firstLine(t.platform.port, `POST / HTTP/1.1\r\n${headers}\r\nabc`)).toBe("HTTP/1.1 200 OK");
});

test("400 is the response to a request for another server", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", ECHO);
  expect((await t.request("shop", "http://evil.example/")).status).toBe(400);
});

test("a request in flight finishes when the platform closes", async () => {
  const t = await openTestPlatform();
  await t.publish(
    "shop",
    `export default { async fetch() { await new Promise((done) => setTimeout(done, 500)); return new Response("finished"); } }`,
  );
  const response = t.request("shop");
  await eventually(() => (t.platform.supervisor.active.length > 0 ? true : undefined));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await t[Symbol.asyncDispose]();
  expect((await response).text).toBe("finished");
});
