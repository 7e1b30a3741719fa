import { once } from "node:events";
import { connect } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { CallSocket } from "../../../server/drivers/code-runtime/call-socket.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/**
 * Writes to the socket as no program does through `service`; gives what comes back, after the byte that lets it start, until
 * it is closed.
 */
async function converse(socketPath: string, ...messages: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect(socketPath);
  let answer = "";
  socket.on("data", (chunk) => (answer += chunk.toString()));
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.on("close", resolve));
  for (const message of messages) socket.write(message);
  await closed;
  return answer.replace(/^\n/, "");
}

async function openSocket(folder: string): Promise<{ socket: CallSocket; path: string; answered: string[] }> {
  const answered: string[] = [];
  const handle = async (name: string) => void answered.push(name);
  const socketPath = path.join(folder, "calls.sock");
  const socket: CallSocket = await CallSocket.open(socketPath, () =>
    socket.start({ handle, onFault: () => undefined }),
  );
  return { socket, path: socketPath, answered };
}

test.each([
  ["is not JSON", "call me\n"],
  ["is not a call", "[]\n"],
  ["has no number", `{"name":"tools.x"}\n`],
  ["has a name without end", `{"id":1,"name":"${"x".repeat(600)}"}\n`],
  ["is longer than a megabyte", "x".repeat(1_100_000)],
])("a line that %s closes the connection", async (_what, line) => {
  await using folder = await temporaryFolder();
  const { path: socketPath, answered } = await openSocket(folder.path);
  expect([await converse(socketPath, line), answered]).toEqual(["", []]);
});

test("32 MB of calls close the connection", async () => {
  await using folder = await temporaryFolder();
  const { path: socketPath, answered } = await openSocket(folder.path);
  const call = `{"id":1,"name":"tools.x","input":"${"x".repeat(1_000_000)}"}\n`;
  await converse(socketPath, ...Array.from({ length: 40 }, () => call));
  expect(answered.length).toBeGreaterThan(25);
  expect(answered.length).toBeLessThan(34);
});

test("a socket takes one connection", async () => {
  await using folder = await temporaryFolder();
  const { socket, path: socketPath } = await openSocket(folder.path);
  const first = connect(socketPath);
  expect(String(await once(first, "data"))).toBe("\n");
  expect(await converse(socketPath, `{"id":1,"name":"tools.y"}\n`)).toBe("");
  first.write(`{"id":1,"name":"tools.x"}\n`);
  const [answer] = (await once(first, "data")) as [Buffer];
  expect(answer.toString()).toBe(`{"id":1,"output":null}\n`);
  socket.close();
  await once(first, "close");
});
