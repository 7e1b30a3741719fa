import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { AppCall } from "../../../domain/ports/app-caller.ts";
import type { Invocation } from "../../../domain/ports/procedure-discovery.ts";
import { EdgeProxyCaller } from "../../../server/drivers/app-caller/edge-proxy-caller.ts";
import { EdgeClient } from "../../../server/platforms/remote/edge-client.ts";

const TRPC: Invocation = { via: "trpc", endpoint: "/trpc", transformer: "none" };
const MCP: Invocation = { via: "mcp", endpoint: "/mcp", tool: "add", revision: "2026-07-28" };
const HOSTS = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];

interface Edges extends AsyncDisposable {
  call(invocation: Invocation): ReturnType<EdgeProxyCaller["call"]>;
  /** The edge that responded last. */
  preferred(): string;
  /** The hosts that received requests. */
  received: string[];
}

/** Proxies of edges at the same port of different hosts. A host without a listener refuses connections. */
async function openEdges(listeners: Record<string, RequestListener>): Promise<Edges> {
  const received: string[] = [];
  const servers: Server[] = [];
  let port = 0;
  for (const [host, listener] of Object.entries(listeners)) {
    const server = createServer((request, response) => {
      received.push(host);
      listener(request, response);
    });
    servers.push(server.listen(port, host));
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  }
  const client = new EdgeClient({ urls: HOSTS.map((host) => `https://${host}:1`), tokenSecret: "x".repeat(32) });
  const caller = new EdgeProxyCaller((slug, unreachable) => {
    if (unreachable !== undefined) client.avoid(unreachable.host);
    return { host: client.host, port, hostHeader: `${slug}.localhost` };
  });
  const call: Omit<AppCall, "invocation"> = {
    ...{ slug: "shop", deploymentId: "d1", appToken: "sva_token", name: "add", kind: "mutation", input: {} },
    signal: AbortSignal.timeout(20_000),
  };
  return {
    call: (invocation) => caller.call({ ...call, invocation }),
    preferred: () => client.host,
    received,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      for (const server of servers) server.close().closeAllConnections();
    },
  };
}

const sendJson =
  (value: unknown, status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

const sendToolResult: RequestListener = (request, response) => void respondToCall(request, response);

async function respondToCall(...[request, response]: Parameters<RequestListener>): Promise<void> {
  const { id } = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { id: number };
  const result = { content: [{ type: "text", text: "2" }] };
  sendJson({ jsonrpc: "2.0", id, result })(request, response);
}

test("a call goes to the next edge when one refuses the connection, and later calls begin there", async () => {
  await using edges = await openEdges({ "127.0.0.3": sendJson({ result: { data: 2 } }) });
  expect(await edges.call(TRPC)).toEqual({ ok: true, output: 2 });
  expect(edges.preferred()).toBe("127.0.0.3");
  expect(await edges.call(TRPC)).toEqual({ ok: true, output: 2 });
});

test("the call of an MCP tool goes to the next edge too", async () => {
  await using edges = await openEdges({ "127.0.0.2": sendToolResult });
  expect(await edges.call(MCP)).toMatchObject({ ok: true });
  expect(edges.received).toEqual(["127.0.0.2"]);
});

test("a call fails when every edge refuses the connection", async () => {
  await using edges = await openEdges({ "127.0.0.4": sendJson({}) });
  await expect(edges.call(TRPC)).rejects.toMatchObject({ name: "AppCallFailed" });
  expect(edges.received).toEqual([]);
});

test("a call that an edge may have received is not repeated on another edge", async () => {
  const destroy: RequestListener = (request) => void request.socket.destroy();
  await using edges = await openEdges({ "127.0.0.1": destroy, "127.0.0.2": sendJson({ result: { data: 2 } }) });
  await expect(edges.call(TRPC)).rejects.toMatchObject({ name: "AppCallFailed" });
  await expect(edges.call(MCP)).rejects.toMatchObject({ name: "AppCallFailed" });
  expect(edges.received).toEqual(["127.0.0.1", "127.0.0.1"]);
});

test.each([
  ["redirects to", TRPC, { status: 303, headers: { location: "/result" }, body: "" }],
  [
    "ends the stream of",
    MCP,
    { status: 200, headers: { "content-type": "text/event-stream" }, body: "id: 1\nretry: 1\ndata:\n\n" },
  ],
] as const)(
  "a call is not repeated when an edge %s the call and then refuses connections",
  async (_how, invocation, sent) => {
    const listener: RequestListener = (request, response) => {
      const { server } = request.socket as typeof request.socket & { server: Server };
      server.close();
      response.writeHead(sent.status, { ...sent.headers, connection: "close" }).end(sent.body);
    };
    await using edges = await openEdges({ "127.0.0.1": listener, "127.0.0.2": sendJson({ result: { data: 2 } }) });
    await expect(edges.call(invocation)).rejects.toMatchObject({ name: "AppCallFailed" });
    expect(edges.received).toEqual(["127.0.0.1"]);
  },
);
