import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** A free port below those that the system gives to clients and to servers on port 0. */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000);
  const server = createServer().listen(port, "127.0.0.1");
  const [event] = await Promise.race([
    once(server, "listening").then(() => ["listening"]),
    once(server, "error").then(() => ["error"]),
  ]);
  if (event === "error") return await freePort();
  server.close();
  await once(server, "close");
  return port;
}
