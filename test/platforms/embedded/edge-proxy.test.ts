import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { ask, eventually, openTestEdge } from "../../support/edge/test-edge.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const ECHO = `export default { async fetch(request) {
  const { method, url, headers } = request;
  return Response.json({ method, url, headers: Object.fromEntries(headers), body: await request.text() });
} }`;

/** What the edge answers to bytes that no HTTP client would send. */
async function firstLine(port: number, bytes: string): Promise<string | undefined> {
  const socket = connect(port, "127.0.0.1").setEncoding("latin1");
  socket.write(bytes);
  const [text] = (await once(socket, "data")) as [string];
  socket.destroy();
  return text.split("\r\n")[0];
}

const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");

test("404 answers a host at which no app lives", async () => {
  await using t = await openTestEdge();
  const hosts = ["absent.localhost", "localhost", "a.b.localhost", "evil.example", "..localhost", "%2e.localhost"];
  const answers = await Promise.all(hosts.map((host) => ask(t.edge.port, host)));
  expect(answers.map(({ status, text }) => [status, text])).toEqual(
    hosts.map(() => [404, '{"error":"There is no app at this address."}']),
  );
});

test("an app is found by its host name in any case, with and without port", async () => {
  await using t = await openTestEdge({ appsDomain: "apps.example.com" });
  const { url } = await t.publish("shop", ECHO);
  const hosts = ["shop.apps.example.com", "SHOP.Apps.Example.com:8443", "shop.apps.example.com."];
  const answers = await Promise.all(hosts.map((host) => ask(t.edge.port, host)));
  expect([url, answers.map(({ status }) => status)]).toEqual(["http://shop.apps.example.com", [200, 200, 200]]);
});

verifies(
  "apps.token.bearer",
  "a good app token marks the request as the app's, and the app does not see the token",
  async () => {
    await using t = await openTestEdge();
    await t.publish("shop", ECHO);
    await t.entries.put({ appId: "app-shop", tokenSha256: sha256("sva_good") });
    const { headers } = JSON.parse(
      (await t.visit("shop", "/", { headers: { authorization: "Bearer sva_good" } })).text,
    );
    expect([headers["x-service-auth"], headers.authorization]).toEqual(["app", undefined]);
  },
);

test("401 answers a token that is not the app's", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  await t.publish("other", ECHO);
  await t.entries.put({ appId: "app-shop", tokenSha256: sha256("sva_good") });
  await t.entries.put({ appId: "app-other", tokenSha256: sha256("sva_other") });
  const answer = await t.visit("shop", "/", { headers: { authorization: "bearer sva_other" } });
  expect([answer.status, answer.headers["www-authenticate"], Object.keys(JSON.parse(answer.text))]).toEqual([
    401,
    'Bearer error="invalid_token"',
    ["error"],
  ]);
});

test("a wrong token does not start an app", async () => {
  await using t = await openTestEdge({ limits: { idleMs: 0 } });
  await t.publish("shop", ECHO);
  await t.logged("idle app stopped");
  await t.visit("shop", "/", { headers: { authorization: "Bearer sva_wrong" } });
  expect(t.edge.supervisor.active).toEqual([]);
});

test("a rotated or removed token counts from the next request on", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  const statusWith = async (token: string) =>
    (await t.visit("shop", "/", { headers: { authorization: `Bearer ${token}` } })).status;
  await t.entries.put({ appId: "app-shop", tokenSha256: sha256("sva_1") });
  const first = await statusWith("sva_1");
  await t.entries.put({ appId: "app-shop", tokenSha256: sha256("sva_2") });
  const second = [await statusWith("sva_1"), await statusWith("sva_2")];
  await t.entries.remove("app-shop");
  expect([first, second, await statusWith("sva_2")]).toEqual([200, [401, 200], 401]);
});

test("the token before the current one is good beside it until its time is over, and no other", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  const statuses = () =>
    Promise.all(
      ["sva_2", "sva_1", "sva_0"].map(
        async (token) => (await t.visit("shop", "/", { headers: { authorization: `Bearer ${token}` } })).status,
      ),
    );
  const put = (until: string) =>
    t.entries.put({
      ...{ appId: "app-shop", tokenSha256: sha256("sva_2") },
      previous: { tokenSha256: sha256("sva_1"), until },
    });
  await put(new Date(Date.now() + 3_600_000).toISOString());
  expect(await statuses()).toEqual([200, 200, 401]);
  await put(new Date(Date.now() - 1).toISOString());
  expect(await statuses()).toEqual([200, 401, 401]);
  await put("no time at all");
  expect(await statuses()).toEqual([200, 401, 401]);
});

verifies(hazard(63), "the token of a removed app is refused by the next app at its slug", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  await t.entries.put({ appId: "app-shop", tokenSha256: sha256("sva_old") });
  await t.edge.platform.unpublish("shop");
  await t.entries.remove("app-shop");
  await t.publish("shop", ECHO, { appId: "app-2", databaseId: "db-2" });
  await t.entries.put({ appId: "app-2", tokenSha256: sha256("sva_new") });
  expect((await t.visit("shop", "/", { headers: { authorization: "Bearer sva_old" } })).status).toBe(401);
});

test("any other Authorization is the app's own business", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  const values = ["Basic dXNlcjpwYXNz", "Bearer eyJhbGciOi", "Bearer svk_x", "sva_good"];
  const seen = values.map(async (authorization) => {
    const { headers } = JSON.parse((await t.visit("shop", "/", { headers: { authorization } })).text);
    return [headers.authorization, headers["x-service-auth"]];
  });
  expect(await Promise.all(seen)).toEqual(values.map((value) => [value, undefined]));
});

test("a clientInfo cannot speak in the platform's name", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  const forged = {
    "X-Service-Auth": "app",
    "x-service-anything": "1",
    "MF-CF-Blob": "{}",
    "CF-Connecting-IP": "1.2.3.4",
  };
  const { headers } = JSON.parse((await t.visit("shop", "/", { headers: forged })).text);
  expect(Object.keys(headers).filter((name) => /^(x-service|mf)-/.test(name))).toEqual([]);
  expect(headers["cf-connecting-ip"]).toBe("127.0.0.1");
});

/** What a clientInfo, or a proxy, could say of where a visit comes from. */
const CLAIMS = {
  "x-forwarded-for": "198.51.100.1, 203.0.113.7",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "evil.example",
  "x-real-ip": "198.51.100.1",
  "true-client-ip": "198.51.100.1",
  "cf-ipcountry": "XX",
  forwarded: "for=198.51.100.1;proto=https",
};

/** What the app hears of all that, on a plain request and on one that asks for a WebSocket. */
async function heard(trustedProxies: string[]): Promise<Record<string, string>> {
  await using t = await openTestEdge({ trustedProxies });
  await t.publish("shop", ECHO);
  const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const [plain, upgraded] = await Promise.all(
    [{}, upgrade].map(async (more) => {
      const answer = await t.visit("shop", "/", { headers: { ...CLAIMS, ...more } });
      const headers = Object.entries(JSON.parse(answer.text).headers as Record<string, string>);
      return Object.fromEntries(headers.filter(([name]) => name in CLAIMS || name === "cf-connecting-ip"));
    }),
  );
  expect(upgraded).toEqual(plain);
  return plain!;
}

test("an app hears of a forwarded address from a trusted proxy: the one that the proxy saw, and no other", async () => {
  expect(await heard(["127.0.0.0/8"])).toEqual({
    "cf-connecting-ip": "203.0.113.7",
    "x-forwarded-for": "203.0.113.7",
    "x-forwarded-proto": "https",
  });
});

test("an app hears nothing that a clientInfo says of where they come from", async () => {
  const truth = { "cf-connecting-ip": "127.0.0.1", "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http" };
  expect([await heard([]), await heard(["192.0.2.1"])]).toEqual([truth, truth]);
});

test("headers that concern one connection are not passed on", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  const hops = {
    connection: "close, X-Private",
    "x-private": "1",
    te: "trailers",
    "proxy-authorization": "x",
    "keep-alive": "5",
  };
  const { headers } = JSON.parse((await t.visit("shop", "/", { headers: { ...hops, "x-public": "2" } })).text);
  expect([headers["x-private"], headers.te, headers["proxy-authorization"], headers["x-public"]]).toEqual([
    undefined,
    undefined,
    undefined,
    "2",
  ]);
});

test("a sane request id is kept, any other replaced, and the clientInfo learns it", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  const kept = await t.visit("shop", "/", { headers: { "x-request-id": "abc-123" } });
  const replaced = await t.visit("shop", "/", { headers: { "x-request-id": "a b<script>" } });
  expect([JSON.parse(kept.text).headers["x-request-id"], kept.headers["x-request-id"]]).toEqual(["abc-123", "abc-123"]);
  expect(replaced.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
});

test("a body arrives whole, also when its length is not announced, on any method", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  const methods = ["POST", "PUT", "PATCH", "DELETE"];
  const answers = methods.flatMap((method) => [
    t.visit("shop", "/?q=%2F", { method, body: "a body", headers: { "content-length": "6" } }),
    t.visit("shop", "/?q=%2F", { method, body: "a body", headers: { "transfer-encoding": "chunked" } }),
  ]);
  expect((await Promise.all(answers)).map(({ text }) => JSON.parse(text).body)).toEqual(answers.map(() => "a body"));
});

test("an app that answers without reading the body does not disturb the requests after it", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", `export default { fetch: () => new Response("done") }`);
  const body = Buffer.alloc(300_000);
  for (let n = 0; n < 10; n++) expect((await t.visit("shop", "/", { method: "POST", body })).text).toBe("done");
});

test("a large upload streams through", async () => {
  await using t = await openTestEdge();
  await t.publish(
    "shop",
    `export default { async fetch(request) {
    let bytes = 0;
    for await (const chunk of request.body ?? []) bytes += chunk.byteLength;
    return new Response(String(bytes));
  } }`,
  );
  expect((await t.visit("shop", "/", { method: "POST", body: Buffer.alloc(50_000_000) })).text).toBe("50000000");
});

test("whatever words an app puts beside a status, the answer goes out and the edge goes on", async () => {
  await using t = await openTestEdge();
  const script = `export default { fetch: () => new Response("ok", { statusText: "a\\x7fb" }) }`;
  await t.publish("shop", script);
  const answers = [await t.visit("shop"), await t.visit("shop")];
  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [200, "ok"],
    [200, "ok"],
  ]);
});

test("400 answers a request with two hosts, of which the app might take the other one", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  const hosts = "Host: shop.localhost\r\nHost: other.localhost\r\n";
  expect(await firstLine(t.edge.port, `GET / HTTP/1.1\r\n${hosts}\r\n`)).toBe("HTTP/1.1 400 Bad Request");
});

test("a request with a body cannot ask for a WebSocket; the app gets all of it", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  const headers = "Host: shop.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n";
  expect(await firstLine(t.edge.port, `POST / HTTP/1.1\r\n${headers}\r\nabc`)).toBe("HTTP/1.1 200 OK");
});

test("400 answers a request that aims at another server", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", ECHO);
  expect((await t.visit("shop", "http://evil.example/")).status).toBe(400);
});

test("closing lets a request in flight finish", async () => {
  const t = await openTestEdge();
  await t.publish(
    "shop",
    `export default { async fetch() { await new Promise((done) => setTimeout(done, 500)); return new Response("finished"); } }`,
  );
  const answer = t.visit("shop");
  await eventually(() => (t.edge.supervisor.active.length > 0 ? true : undefined));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await t[Symbol.asyncDispose]();
  expect((await answer).text).toBe("finished");
});
