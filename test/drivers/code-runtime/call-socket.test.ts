import { once } from "node:events";
import { connect } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { CallSocket } from "../../../server/drivers/code-runtime/call-socket.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/**
 * Sends messages to the socket directly, without `service`. Returns everything that the socket sends until it is closed,
 * except the start byte.
 */
async function sendMessages(socketPath: string, ...messages: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect(socketPath);
  let received = "";
  socket.on("data", (chunk) => (received += chunk.toString()));
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.on("close", resolve));
  for (const message of messages) socket.write(message);
  await closed;
  return received.replace(/^\n/, "");
}

async function openSocket(folder: string): Promise<{ socket: CallSocket; path: string; handled: string[] }> {
  const handled: string[] = [];
  const handleCall = async (name: string) => void handled.push(name);
  const socketPath = path.join(folder, "calls.sock");
  const socket: CallSocket = await CallSocket.open(socketPath, () =>
    socket.start({ handleCall, onInternalError: () => undefined }),
  );
  return { socket, path: socketPath, handled };
}

test.each([
  ["is not JSON", "call me\n"],
  ["is not a call", "[]\n"],
  ["has no id", `{"name":"tools.x"}\n`],
  ["has a name that is too long", `{"id":1,"name":"${"x".repeat(600)}"}\n`],
  ["is longer than a megabyte", "x".repeat(1_100_000)],
])("a line that %s closes the connection", async (_description, line) => {
  await using folder = await temporaryFolder();
  const { path: socketPath, handled } = await openSocket(folder.path);
  expect([await sendMessages(socketPath, line), handled]).toEqual(["", []]);
});

test("more than 32 MB of calls close the connection", async () => {
  await using folder = await temporaryFolder();
  const { path: socketPath, handled } = await openSocket(folder.path);
  const call = `{"id":1,"name":"tools.x","input":"${"x".repeat(1_000_000)}"}\n`;
  await sendMessages(socketPath, ...Array.from({ length: 40 }, () => call));
  expect(handled.length).toBeGreaterThan(25);
  expect(handled.length).toBeLessThan(34);
});

test("a socket accepts one connection", async () => {
  await using folder = await temporaryFolder();
  const { socket, path: socketPath } = await openSocket(folder.path);
  const first = connect(socketPath);
  expect(String(await once(first, "data"))).toBe("\n");
  expect(await sendMessages(socketPath, `{"id":1,"name":"tools.y"}\n`)).toBe("");
  first.write(`{"id":1,"name":"tools.x"}\n`);
  const [response] = (await once(first, "data")) as [Buffer];
  expect(response.toString()).toBe(`{"id":1,"output":null}\n`);
  socket.close();
  await once(first, "close");
});
