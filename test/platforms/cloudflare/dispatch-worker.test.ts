import { once } from "node:events";
import http from "node:http";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openOnEmulator, type PlatformOnEmulator } from "../../support/cloudflare/open-on-emulator.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const SCRIPT = `let sent = 0;
export default { async fetch(request) {
  const { pathname } = new URL(request.url);
  if (request.headers.get("upgrade") === "websocket") {
    const { 0: client, 1: server } = new WebSocketPair();
    server.accept();
    server.addEventListener("message", ({ data }) => server.send("echo " + data));
    return new Response(null, { status: 101, webSocket: client });
  }
  if (pathname === "/events") {
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    const sendAll = async () => {
      for (let n = 1; ; n++) {
        await writer.write(encoder.encode("data: " + n + "\\n\\n"));
        sent = n;
        await scheduler.wait(20);
      }
    };
    sendAll().catch(() => {});
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  }
  if (pathname === "/sent") return Response.json(sent);
  if (pathname === "/size") {
    let size = 0;
    for await (const chunk of request.body) size += chunk.length;
    return new Response(String(size));
  }
  if (pathname === "/range" && request.headers.get("range") === "bytes=2-4")
    return new Response("cde", { status: 206, headers: { "content-range": "bytes 2-4/10", "content-length": "3" } });
  return new Response(request.method === "HEAD" ? null : "abcdefghij", { headers: { etag: '"1"', "x-method": request.method } });
} }`;

let t: PlatformOnEmulator;

beforeAll(async () => {
  t = await openOnEmulator();
  await using folder = await temporaryFolder();
  const code = {
    runtime: "worker",
    scriptPath: await writeUploadForm(path.join(folder.path, "f.form"), SCRIPT),
  } as const;
  const script = { appId: "app-1", generation: 1, databaseId: "db-1", code, assets: null };
  await t.platform.scripts.publish("shop", script, AbortSignal.timeout(60_000));
});
afterAll(() => t[Symbol.asyncDispose]());

const host = (): string => `shop.${t.emulator.appsDomain}`;

test("messages of a WebSocket go through the dispatch worker in both directions", async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${t.emulator.runtime.port}/socket`, { headers: { host: host() } });
  await once(socket, "open");
  socket.send("hello");
  const [data] = (await once(socket, "message")) as [Buffer];
  expect(data.toString()).toBe("echo hello");
  socket.terminate();
});

async function send(
  target: string,
  { body, headers = {}, ...options }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<http.IncomingMessage> {
  const address = { host: "127.0.0.1", port: t.emulator.runtime.port, path: target };
  const request = http.request({ ...options, ...address, headers: { ...headers, host: host() } });
  request.end(body);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  return response;
}

test("events of a stream arrive one by one, and the app sends no more when the client has left", async () => {
  const response = await send("/events");
  expect(response.headers["content-type"]).toBe("text/event-stream");
  let received = "";
  for await (const chunk of response as AsyncIterable<Buffer>) {
    received += chunk.toString();
    if (received.includes("data: 3")) break;
  }
  expect(received).toMatch(/^data: 1\n\ndata: 2\n\ndata: 3/);
  const readSent = async () => text(await send("/sent"));
  await expect
    .poll(async () => {
      const sent = await readSent();
      await delay(200);
      return (await readSent()) === sent;
    })
    .toBe(true);
});

test("a body of several megabytes, HEAD and ranges reach the app, and their responses the client", async () => {
  const body = "x".repeat(8 * 1024 * 1024);
  expect(await text(await send("/size", { method: "POST", body }))).toBe(String(body.length));
  const head = await send("/", { method: "HEAD" });
  expect([head.statusCode, head.headers, await text(head)]).toMatchObject([
    200,
    { "x-method": "HEAD", etag: '"1"' },
    "",
  ]);
  const range = await send("/range", { headers: { range: "bytes=2-4" } });
  expect([range.statusCode, range.headers, await text(range)]).toMatchObject([
    206,
    { "content-range": "bytes 2-4/10", "content-length": "3" },
    "cde",
  ]);
});
