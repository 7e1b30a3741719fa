/** The reference server of the Model Context Protocol, `server-everything`, with its Streamable HTTP transport. */
import { once } from "node:events";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { serveCommands } from "../support/serve-commands.ts";

export type ReferenceServerCommands = Awaited<ReturnType<typeof open>>["commands"];

const POLL_MS = 20;

/** The module listens as soon as it is imported, on the port in `PORT`, and logs that to standard error. */
async function open() {
  const port = await findFreePort();
  process.env["PORT"] = String(port);
  const { error } = console;
  console.error = () => undefined;
  await import(import.meta.resolve("@modelcontextprotocol/server-everything/dist/transports/streamableHttp.js"));
  while (!(await isListening(port))) await sleep(POLL_MS);
  console.error = error;
  return { commands: { publicUrl: () => `http://127.0.0.1:${port}` }, close: async () => undefined };
}

async function findFreePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function isListening(port: number): Promise<boolean> {
  const socket = net.connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

await serveCommands(open);
