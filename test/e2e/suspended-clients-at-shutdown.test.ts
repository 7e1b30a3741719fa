import { once } from "node:events";
import net, { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { subscriptionRequest } from "../support/clients/mcp-notification-streams.ts";
import { createHarness } from "../support/service/harness.ts";
import { createInstallation, type ServiceProcess } from "../support/service/service-process.ts";

/** More responses than the buffers of the system hold. */
const PIPELINED = 400;

async function deploy({ rest }: ServiceProcess): Promise<{ id: string; url: URL }> {
  const { body } = await rest.deploy({ repo: "examples/hello" });
  const id = String(body["app_id"]);
  for (;;) {
    const app = await rest.get(`/v1/apps/${id}`);
    if (app.body["status"] === "ready") return { id, url: new URL(String(app.body["url"])) };
    if (app.body["status"] === "failed") throw new Error(app.text);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Sends a request and reads nothing after the first bytes of the response, like a client that is suspended. */
async function sendAndSuspend({ host, port }: URL, request: string): Promise<Socket> {
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => undefined).write(request.replace("\r\n", `\r\nHost: ${host}\r\n`));
  await once(socket, "readable");
  socket.read();
  return socket;
}

function toText(target: string, headers: Record<string, string>, body = ""): string {
  const lines = { ...headers, ...(body !== "" && { "content-length": String(Buffer.byteLength(body)) }) };
  const fields = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${target} HTTP/1.1\r\n${fields.join("")}\r\n${body}`;
}

/** Opens connections of suspended clients: to streams, with responses that no buffer holds, and with half a request. */
async function suspendClients(service: ServiceProcess): Promise<Socket[]> {
  const { api_key: apiKey, personal_access_token: token } = service.tokens;
  const app = await deploy(service);
  const control = new URL(service.publicUrl);
  const key = { authorization: `Bearer ${apiKey}` };
  const subscription = subscriptionRequest(token);
  const stream = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  const follow = toText(`GET /v1/apps/${app.id}/runtime-logs?follow`, key);
  const document = `GET /v1/openapi.json HTTP/1.1\r\nHost: ${control.host}\r\n\r\n`;
  const page = `GET / HTTP/1.1\r\nHost: ${app.url.host}\r\n\r\n`;
  const half = connect(Number(control.port), "127.0.0.1").on("error", () => undefined);
  half.write(`POST /v1/apps/deploy HTTP/1.1\r\nHost: ${control.host}\r\nAuthorization: Bearer ${apiKey}\r\nContent-`);
  return [
    await sendAndSuspend(control, toText("POST /mcp", subscription.headers, subscription.body)),
    await sendAndSuspend(control, toText("GET /mcp", stream)),
    await sendAndSuspend(control, follow),
    await sendAndSuspend(control, toText("GET /v1/openapi.json", {}) + document.repeat(PIPELINED)),
    await sendAndSuspend(app.url, toText("GET /", {}) + page.repeat(PIPELINED * 10)),
    half,
  ];
}

test("a service that is told to stop does not wait for suspended clients, whose streams end when they continue", async () => {
  await using installation = await createInstallation();
  const service = await installation.start();
  const sockets = await suspendClients(service);
  // The service ends with 1 if the stop takes so long that it must be cut off.
  expect(await service.end("SIGTERM")).toBe(0);
  const open = sockets.filter((socket) => !socket.destroyed);
  const closed = open.map((socket) => once(socket, "close"));
  for (const socket of open) socket.resume().end();
  await Promise.all(closed);
});

test("a service that stops closes connections on which no request was sent, instead of waiting for one", async () => {
  const harness = await createHarness();
  const sockets = Array.from({ length: 3 }, () => net.connect(harness.service.port, "127.0.0.1"));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  // A response shows that the service has accepted the earlier connections too.
  expect((await fetch(`${harness.service.publicUrl}/healthz`)).status).toBe(200);
  const closed = sockets.map((socket) => new Promise((resolve) => socket.on("error", () => {}).once("close", resolve)));
  await harness[Symbol.asyncDispose]();
  await Promise.all(closed);
});
