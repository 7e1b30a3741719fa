import { once } from "node:events";
import net from "node:net";
import { expect, test } from "vitest";
import { createHarness } from "../support/service/harness.ts";

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
