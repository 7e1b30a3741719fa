import { once } from "node:events";
import { createServer, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fastify, type FastifyInstance } from "fastify";
import { expect, test } from "vitest";
import { handleClientErrors, type StreamedConnections } from "../../server/http/client-errors.ts";
import { StreamedBodies } from "../../server/rest/streamed-bodies.ts";
import { hazard, verifies } from "../support/verifies.ts";

const LIMIT = 100_000;
const TIMEOUTS = { requestTimeout: 300, headersTimeout: 300, connectionsCheckingInterval: 50 };

interface TestServer extends AsyncDisposable {
  server: FastifyInstance;
  /** The bytes of all bodies that have arrived. */
  arrived(): number;
  /** The sizes of the bodies that were read, and the errors of the others. */
  results: unknown[];
  /** Begins a request whose body has no declared size. */
  send(path?: string): ReturnType<typeof request>;
}

async function startServer(): Promise<TestServer> {
  const connections: StreamedConnections = new WeakSet();
  const server = fastify({
    serverFactory: (handler) => createServer(TIMEOUTS, handler),
    clientErrorHandler: handleClientErrors(connections),
  });
  const bodies = new StreamedBodies(server, connections);
  const results: unknown[] = [];
  let arrived = 0;
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", (_request, body, done) => done(null, body));
  server.post("/other", async ({ raw }) => ({ bytes: (await Array.fromAsync(raw)).length }));
  server.post("/", async ({ raw }, reply) => {
    let bytes = 0;
    try {
      for await (const chunk of bodies.read(raw, LIMIT)) {
        bytes += chunk.length;
        arrived += chunk.length;
      }
      results.push(bytes);
    } catch (error) {
      results.push(error);
    }
    return reply.header("connection", "close").send("done");
  });
  await server.listen({ port: 0 });
  const { port } = server.server.address() as { port: number };
  const headers = { "content-type": "application/octet-stream", "transfer-encoding": "chunked" };
  const send = (path = "/") => request({ port, path, method: "POST", headers }).on("error", () => undefined);
  return { server, arrived: () => arrived, results, send, [Symbol.asyncDispose]: () => server.close() };
}

test("a body without a declared size is read up to the limit", async () => {
  await using started = await startServer();
  for (const size of [0, LIMIT, LIMIT + 1]) {
    const sent = started.send();
    sent.end(Buffer.alloc(size));
    await once(sent, "response");
  }
  expect(started.results).toMatchObject([0, LIMIT, { status: 413, message: "The request body exceeds 97.65625 KiB." }]);
});

test("a body whose client leaves is incomplete", async () => {
  await using started = await startServer();
  const sent = started.send();
  sent.write("beginning");
  await expect.poll(started.arrived).toBe(9);
  sent.destroy();
  await expect.poll(() => started.results).toMatchObject([{ status: 400, message: /did not arrive completely/ }]);
});

verifies(hazard(66), "a streamed body may arrive more slowly than other requests", async () => {
  await using started = await startServer();
  const [streamed, other] = [started.send(), started.send("/other")];
  const responses = Promise.all([once(streamed, "response"), once(other, "response")]);
  for (const sent of [streamed, other]) sent.write("beginning");
  await expect.poll(started.arrived).toBe(9);
  await once(other, "response");
  await sleep(2 * TIMEOUTS.requestTimeout);
  streamed.end("end");
  const statuses = (await responses).map(([{ statusCode }]) => statusCode as number);
  expect([statuses, started.results]).toEqual([[200, 408], [12]]);
});

test("a server that closes ends a body that is still arriving", async () => {
  await using started = await startServer();
  const sent = started.send();
  const responded = once(sent, "response");
  sent.write("beginning");
  await expect.poll(started.arrived).toBe(9);
  await started.server.close();
  await responded;
  expect(started.results).toMatchObject([{ code: "unavailable", message: /The service is stopping/ }]);
});
