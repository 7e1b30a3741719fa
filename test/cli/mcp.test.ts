import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { StdioClientTransport as Transport2 } from "@modelcontextprotocol/client/stdio";
import { StdioClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, beforeEach, expect, vi } from "vitest";
import { createCli, type TestCli } from "../support/cli/run-cli.ts";
import { connectListener, MCP_CLIENTS, type Transports, useTools } from "../support/clients/mcp-scenarios.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;
let cli: TestCli;

beforeAll(async () => {
  cli = await createCli({ SVC_URL: service().service.publicUrl });
});
afterAll(() => cli[Symbol.asyncDispose]());
beforeEach(async () => {
  tenant = await service().tenant();
});

/** Transports that start `svc mcp`. */
function bridge(url = service().service.publicUrl): Transports {
  const parameters = {
    command: process.execPath,
    args: [path.join(cli.folder, "svc.js"), "mcp"],
    env: { ...cli.env, SVC_URL: url, SVC_TOKEN: tenant.personal_access_token },
  };
  return { v1: () => new Transport1(parameters), v2: () => new Transport2(parameters) };
}

for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
  verifies(
    ["gateway.clients.any", "gateway.clients.bridge"],
    `${name} connects by svc mcp, lists the tools, calls one, and gets an error for a wrong call`,
    async () => {
      const app = await service().givenApp(tenant);
      const client = await connect(bridge());
      try {
        await useTools(client, app.id);
      } finally {
        await client.close();
      }
    },
  );
}

verifies(
  "gateway.clients.bridge",
  "clients of every revision are notified by svc mcp about changed tools",
  async () => {
    const { changes } = service().service.parts.service;
    const onChange = vi.fn<(kind: string) => void>();
    const clients = await Promise.all(
      (["v1", "v2", "subscription"] as const).map((kind) => connectListener(kind, bridge(), () => onChange(kind))),
    );
    try {
      await expect
        .poll(() => {
          changes.announce(tenant.org_id);
          return new Set(onChange.mock.calls.flat());
        })
        .toEqual(new Set(["v1", "v2", "subscription"]));
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  },
);

verifies(
  "gateway.clients.bridge",
  "calls wait for a service that restarts, and clients of every revision are notified afterwards",
  async () => {
    await using proxy = await openTcpProxy(service().service.publicUrl);
    const app = await service().givenApp(tenant);
    const onChange = vi.fn<(kind: string) => void>();
    const clients = await Promise.all(
      (["v1", "v2", "subscription"] as const).map((kind) =>
        connectListener(kind, bridge(proxy.url), () => onChange(kind)),
      ),
    );
    try {
      await proxy.close();
      const calls = Promise.all(clients.map((client) => useTools(client, app.id)));
      setTimeout(() => void proxy.open(), 500);
      await calls;
      const notified = () => new Set(onChange.mock.calls.flat());
      await expect.poll(notified).toEqual(new Set(["v1", "v2", "subscription"]));
      onChange.mockClear();
      service().service.parts.service.changes.announce(tenant.org_id);
      await expect.poll(notified).toEqual(new Set(["v1", "v2", "subscription"]));
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  },
);

/** Forwards connections to a service. Closed, it refuses them, as the address of a service that restarts does. */
interface TcpProxy extends AsyncDisposable {
  url: string;
  /** Ends all connections and refuses new ones. */
  close(): Promise<void>;
  /** Accepts connections again. */
  open(): Promise<void>;
}

async function openTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(targetUrl);
  const sockets = new Set<Socket>();
  const forward = (socket: Socket): void => {
    const target = connect(Number(targetPort), hostname);
    for (const each of [socket, target]) {
      sockets.add(each);
      each.on("error", () => undefined).once("close", () => sockets.delete(each));
    }
    socket.pipe(target).pipe(socket);
    socket.once("close", () => target.destroy());
    target.once("close", () => socket.destroy());
  };
  let server: Server | null = null;
  let port = 0;
  const open = async (): Promise<void> => {
    server = createServer(forward).listen(port, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  };
  const close = async (): Promise<void> => {
    const closed = server === null ? null : once(server, "close");
    server?.close();
    for (const socket of sockets) socket.destroy();
    await closed;
    server = null;
  };
  await open();
  return { url: `http://127.0.0.1:${port}`, open, close, [Symbol.asyncDispose]: close };
}
