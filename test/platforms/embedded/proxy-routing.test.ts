import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { expect, test } from "vitest";
import { AppRestricted, AppUnavailable } from "../../../server/platforms/embedded/supervisor/unavailable-app.ts";
import { sendWholeBody } from "../../support/clients/send-whole-body.ts";
import { APP_TOKEN, type LocalProxyOptions, openLocalProxy } from "../../support/edge/local-proxy.ts";
import { eventually, sendRequest } from "../../support/edge/test-platform.ts";

const app = () => http.createServer((_request, response) => response.end("ok"));
const open = (options?: LocalProxyOptions) => openLocalProxy(app(), options);

/** What the proxy sends on a connection until it ends the connection. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = net.connect(port, "127.0.0.1").setEncoding("latin1");
  socket.write(bytes);
  let received = "";
  for await (const chunk of socket) received += chunk;
  return received;
}

test.each([
  ["shop.apps.example", 200, ["shop"]],
  ["SHOP.Apps.Example", 200, ["shop"]],
  ["shop.apps.example.", 200, ["shop"]],
  ["shop.apps.example:80", 200, ["shop"]],
  ["shop.apps.example.:65535", 200, ["shop"]],
  ["shop.apps.example:65536", 400, []],
  ["shop.apps.example:000080", 400, []],
  ["other.apps.example", 404, ["other"]],
  ["xshop.apps.example", 404, ["xshop"]],
  ["apps.example", 404, []],
  ["a.shop.apps.example", 404, []],
  ["shop.apps.example.org", 404, []],
  ["shopxapps.example", 404, []],
  ["shop.apps.example:x", 404, []],
  ["shop.apps.example:", 404, []],
  ["x:shop.apps.example", 404, []],
])("the response to a request for the host %s is %i", async (host, status, slugs) => {
  await using local = await open({ domain: "Apps.Example" });
  expect([(await sendRequest(local.port, host)).status, local.slugs]).toEqual([status, slugs]);
});

test.each([
  ["a target that is a URL", "GET http://shop.localhost/ HTTP/1.1\r\nHost: shop.localhost", "target must be a path"],
  ["two hosts", "GET / HTTP/1.1\r\nHost: shop.localhost\r\nhost: b.localhost", "exactly one Host header"],
  ["no host", "GET / HTTP/1.0", "exactly one Host header"],
  ["an empty host", "GET / HTTP/1.1\r\nHost:", "exactly one Host header"],
  ["a second host that is empty", "GET / HTTP/1.1\r\nHost: shop.localhost\r\nHost:", "exactly one Host header"],
  ["a first host that is empty", "GET / HTTP/1.1\r\nHost:\r\nHost: shop.localhost", "exactly one Host header"],
])("400 is the response to a request with %s", async (_, head, message) => {
  await using local = await open();
  const response = await exchange(local.port, `${head}\r\nConnection: close\r\n\r\n`);
  expect([response.split("\r\n")[0], response]).toEqual(["HTTP/1.1 400 Bad Request", expect.stringContaining(message)]);
  expect(local.acquired).toEqual([]);
});

test("an app learns whether a request has its token, and an invalid token gets 401", async () => {
  await using local = await open();
  const send = (host: string, authorization: string) =>
    sendRequest(local.port, host, "/", { headers: { authorization } });
  expect((await send("shop.localhost", `Bearer ${APP_TOKEN}`)).status).toBe(200);
  expect((await send("shop.localhost", "Basic x")).status).toBe(200);
  const invalid = await send("shop.localhost", "Bearer sva_other");
  expect([invalid.status, invalid.headers["www-authenticate"]]).toEqual([401, 'Bearer error="invalid_token"']);
  expect((await send("absent.localhost", `Bearer ${APP_TOKEN}`)).status).toBe(404);
  expect(local.acquired).toEqual([true, false]);
});

test.each([
  ["an app that is unavailable", new AppUnavailable("Try later.", 7), 503, "7", "Try later."],
  ["an app that is restricted", new AppRestricted("Too much."), 507, undefined, "Too much."],
  ["an internal error", new Error("A secret."), 500, undefined, expect.stringContaining("Internal error")],
])("the response for %s", async (_, error, status, retryAfter, message) => {
  await using local = await open({ beforeAcquire: () => Promise.reject(error) });
  const response = await sendRequest(local.port, "shop.localhost", "/", { headers: { "x-request-id": "id-1" } });
  expect([response.status, response.headers["retry-after"], JSON.parse(response.text)]).toEqual([
    status,
    retryAfter,
    { error: message },
  ]);
  expect(response.headers["x-request-id"]).toBe(status === 500 ? "id-1" : undefined);
  const logged = { message: "request to an app failed", host: "shop.localhost", requestId: "id-1", err: error };
  expect(local.log).toEqual(status === 500 ? [logged] : []);
});

test("a client that sends its whole body first reads an error that was sent before", async () => {
  await using local = await open();
  const response = await sendWholeBody(local.port, "/", "Host: absent.localhost");
  expect(response.split("\r\n")[0]).toBe("HTTP/1.1 404 Not Found");
});

test("a browser gets a page, and any other client JSON", async () => {
  await using local = await open();
  const send = (accept: string) => sendRequest(local.port, "absent.localhost", "/", { headers: { accept } });
  const [page, json] = [await send("text/html,*/*"), await send("*/*")];
  expect(page.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", vary: "accept" });
  expect(page.text).toMatch(/^<!doctype html>[^]*<meta charset="utf-8">[^]*<p>There is no app at this address\.<\/p>/);
  expect(json.headers).toMatchObject({ "content-type": "application/json", vary: "accept" });
  expect(json.text).toBe('{"error":"There is no app at this address."}');
  for (const { headers, text } of [page, json]) expect(headers["content-length"]).toBe(String(text.length));
});

test("a client has as many open requests as the limit allows, until they end", async () => {
  const gate = Promise.withResolvers<void>();
  await using local = await open({
    limits: { requestsPerApp: 2, requestsPerClient: 1 },
    trusts: (_address, hop) => hop === 0,
    beforeAcquire: () => gate.promise,
  });
  const send = (address: string) =>
    sendRequest(local.port, "shop.localhost", "/", { headers: { "x-forwarded-for": address } });
  const waiting = [send("192.0.2.1"), send("2001:db8::1")];
  await eventually(() => (local.acquired.length === 2 ? true : undefined));
  const refused = [await send("2001:db8::2"), await send("192.0.2.2")];
  expect(refused.map(({ text }) => text)).toEqual([
    expect.stringContaining("This address"),
    expect.stringContaining("The app"),
  ]);
  gate.resolve();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
  await eventually(async () => ((await send("192.0.2.1")).status === 200 ? true : undefined));
});

test("the app receives the scheme of the service", async () => {
  const echo = http.createServer((request, response) => response.end(request.headers["x-forwarded-proto"]));
  await using local = await openLocalProxy(echo, { scheme: "https" });
  expect((await sendRequest(local.port, "shop.localhost")).text).toBe("https");
});

test("a proxy that closes waits for a request in flight, and then closes its connection", async () => {
  const started = Promise.withResolvers<() => void>();
  const slow = http.createServer((_request, response) => started.resolve(() => response.end("finished")));
  await using local = await openLocalProxy(slow);
  const request = http.get({
    port: local.port,
    headers: { host: "shop.localhost" },
    agent: new http.Agent({ keepAlive: true }),
  });
  const responded = once(request, "response") as Promise<[http.IncomingMessage]>;
  const finish = await started.promise;
  const closed = local.proxy.close(20_000);
  await expect(sendRequest(local.port, "shop.localhost")).rejects.toThrow("ECONNREFUSED");
  finish();
  const [response] = await responded;
  expect((await response.toArray()).join("")).toBe("finished");
  await closed;
  await local.proxy.close(20_000);
});

test("a proxy that closes cuts off a request after the grace period", async () => {
  const started = Promise.withResolvers<void>();
  await using local = await openLocalProxy(http.createServer(() => started.resolve()));
  const failure = sendRequest(local.port, "shop.localhost").catch((error: unknown) => error);
  await started.promise;
  await local.proxy.close(10);
  expect(await failure).toMatchObject({ code: "ECONNRESET" });
});

test("a proxy that has closed leaves no timer", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  await using local = await open();
  const before = timers();
  await local.proxy.close(20_000);
  expect(timers()).toBeLessThanOrEqual(before);
});

test("a port that is in use is an error", async () => {
  await using local = await open();
  await using other = await open();
  await other.proxy.close(0);
  await expect(other.proxy.listen(local.port, "127.0.0.1", "localhost")).rejects.toThrow("EADDRINUSE");
});
