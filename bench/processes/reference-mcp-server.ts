/** The reference server of the protocol with its streamable HTTP transport, as it comes. */
import { once } from "node:events";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "../support/serve-commands.ts";

export type EverythingCommands = Awaited<ReturnType<typeof open>>["commands"];

const POLL_MS = 20;

/** It listens as soon as it is loaded, on a port that it has to be told, and says that it does to its error stream. */
async function open() {
  const port = await freePort();
  process.env["PORT"] = String(port);
  const say = console.error;
  console.error = () => undefined;
  await import(import.meta.resolve("@modelcontextprotocol/server-everything/dist/transports/streamableHttp.js"));
  while (!(await isOpen(port))) await sleep(POLL_MS);
  console.error = say;
  return { commands: { publicUrl: () => `http://127.0.0.1:${port}` }, close: async () => undefined };
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function isOpen(port: number): Promise<boolean> {
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

await serve(open);
