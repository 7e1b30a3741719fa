import { createHash } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { expect, test } from "vitest";
import { eventually, openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";
import { webSocketApp } from "../../support/edge/web-socket-app.ts";

const PLAIN = `export default { fetch: () => new Response("plain") }`;

test("events arrive before the response ends", async () => {
  await using t = await openTestPlatform();
  await t.publish(
    "shop",
    `export default { fetch(request) {
    if (new URL(request.url).pathname !== "/events") return new Response("ok");
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    writer.write(new TextEncoder().encode("data: first\\n\\n"));
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  } }`,
  );
  const request = http.get({ port: t.platform.port, path: "/events", headers: { host: "shop.localhost" } });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const [chunk] = await once(response, "data");
  request.destroy();
  expect(String(chunk)).toBe("data: first\n\n");
});

test("an app is notified when its client disconnects", async () => {
  await using t = await openTestPlatform();
  await t.publish(
    "shop",
    `let disconnects = 0;
  export default { fetch(request) {
    if (new URL(request.url).pathname !== "/wait") return new Response(String(disconnects));
    request.signal.addEventListener("abort", () => disconnects++);
    const pull = async (c) => { await new Promise((done) => setTimeout(done, 10)); c.enqueue(new Uint8Array(1)); };
    return new Response(new ReadableStream({ pull }));
  } }`,
    { compatibilityFlags: ["enable_request_signal"] },
  );
  await startAndDisconnect(t, "/wait");
  expect(await eventually(async () => ((await t.request("shop")).text === "1" ? true : undefined))).toBe(true);
});

test("an app whose clients have all disconnected is idle", async () => {
  await using t = await openTestPlatform({ limits: { idleMs: 500 } });
  await t.publish(
    "shop",
    `export default { fetch: () => new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(1)) })) }`,
  );
  await startAndDisconnect(t, "/");
  await t.logged("idle app stopped");
});

test("a WebSocket is forwarded in both directions, with the result of token verification", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", webSocketApp());
  await t.platform.authEntries.put({
    appId: "app-shop",
    tokenSha256: createHash("sha256").update("sva_good").digest("hex"),
  });
  const { socket, status } = await openSocket(t, "/", { authorization: "Bearer sva_good" });
  socket.write(maskedText("hi"));
  const [frame] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  expect([status, frame.subarray(2).toString()]).toEqual([101, "hi app"]);
});

test("an upgrade request gets the same errors as other requests: 401, 404 and those of the app", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", webSocketApp());
  await t.publish("plain", PLAIN);
  const statuses = await Promise.all([
    openSocket(t, "/", { authorization: "Bearer sva_bad" }),
    openSocket(t, "/", { host: "absent.localhost" }),
    openSocket(t, "/", { host: "plain.localhost" }),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([401, 404, 200]);
});

/** Waits for the first part of an endless response, then disconnects. */
async function startAndDisconnect(t: TestPlatform, target: string): Promise<void> {
  const request = http.get({ port: t.platform.port, path: target, headers: { host: "shop.localhost" }, agent: false });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  await once(response, "data");
  request.destroy();
}

/** Opens a WebSocket without a library, because no library lets a test choose the Host header. */
async function openSocket(t: TestPlatform, target: string, headers: Record<string, string>) {
  const socket = net.connect(t.platform.port, "127.0.0.1");
  const all = {
    host: "shop.localhost",
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  };
  socket.write(
    `GET ${target} HTTP/1.1\r\n${Object.entries(all)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}\r\n`,
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  return { socket, status: Number(head.toString().split(" ")[1]) };
}

/** A text frame of a client, with a mask of zeros. */
function maskedText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
}
