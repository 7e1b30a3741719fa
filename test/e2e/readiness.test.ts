import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import { openSeparateProcesses, type RoleProcess } from "../support/service/separate-processes.ts";
import { TcpProxy } from "../support/service/tcp-proxy.ts";

async function readiness({ publicUrl }: RoleProcess): Promise<string> {
  const response = await fetch(`${publicUrl}/readyz`);
  const body = (await response.json()) as { error?: string; details?: { unavailable: string[] } };
  return `${response.status} ${body.error ?? body.details?.unavailable.join(", ")}`;
}

/** A proxy to the server of a connection string, and the connection string that leads through it. */
async function proxyOf(url: string): Promise<{ proxy: TcpProxy; url: string }> {
  const target = new URL(url);
  const host = decodeURIComponent(target.hostname);
  // PostgreSQL can listen at a socket in a folder.
  const address = host.startsWith("/") ? { path: `${host}/.s.PGSQL.5432` } : { host, port: Number(target.port) };
  const proxy = await TcpProxy.open(address);
  return { proxy, url: url.replace(target.host, `127.0.0.1:${proxy.port}`) };
}

test("each process is ready when it can do what its role is for", async () => {
  await using processes = await openSeparateProcesses();
  const database = await proxyOf(processes.settings["DATABASE_URL"] ?? "");
  const store = await proxyOf(processes.settings["S3_ENDPOINT"] ?? "");
  await using _closing = new AsyncDisposableStack();
  for (const { proxy } of [database, store]) _closing.use(proxy);
  const env = { DATABASE_URL: database.url, S3_ENDPOINT: store.url };
  const edge = await processes.start("edge-1", env);
  const api = await processes.start("api-1", env);
  const worker = await processes.start("worker-1", env);
  const all = () => Promise.all([api, worker, edge].map(readiness));
  await expect.poll(all).toEqual(["200 ", "200 ", "200 "]);

  await store.proxy.cut();
  await expect.poll(all).toEqual(["200 object store", "503 Not ready: object store", "200 object store"]);
  await store.proxy.restore();
  await expect.poll(all).toEqual(["200 ", "200 ", "200 "]);

  const rest = await processes.client(api);
  const { body } = await rest.deploy({ repo: "examples/guestbook" });
  await expect.poll(async () => (await rest.get(`/v1/apps/${String(body["app_id"])}`)).body["status"]).toBe("ready");
  await database.proxy.cut();
  const lost = "503 Not ready: database, queue";
  await expect.poll(all).toEqual([lost, lost, "200 database, queue"]);
  expect((await appRequest(String(body["url"]))).status).toBe(200);
  await database.proxy.restore();
  await expect.poll(all).toEqual(["200 ", "200 ", "200 "]);

  await edge.end("SIGKILL");
  const others = () => Promise.all([api, worker].map(readiness));
  await expect.poll(others).toEqual(["200 edge", "503 Not ready: edge"]);
});

test("a process that is told to stop is not ready at once, and serves requests until its drain time ends", async () => {
  await using processes = await openSeparateProcesses();
  const edge = await processes.start("edge-1");
  const api = await processes.start("api-1");
  const rest = await processes.client(api);
  using agent = Object.assign(new Agent({ keepAlive: true, maxSockets: 1 }), {
    [Symbol.dispose]: () => agent.destroy(),
  });
  expect(await send(api, agent)).toEqual({ status: 200, connection: "keep-alive", reused: false });
  const idle = connect(Number(new URL(api.publicUrl).port), "127.0.0.1");
  await once(idle, "connect");

  const ended = api.end("SIGTERM");
  await expect.poll(() => readiness(api)).toBe("503 Not ready: the process is about to stop.");
  // The open connection is used once more, and a new one is accepted too.
  expect(await send(api, agent)).toEqual({ status: 200, connection: "close", reused: true });
  expect(await send(api, agent)).toEqual({ status: 200, connection: "close", reused: false });
  expect((await rest.get("/v1/apps")).status).toBe(200);
  await ended;
  await expect(rest.get("/v1/apps")).rejects.toThrow("fetch failed");
  await edge.end("SIGTERM");
  expect(`${api.output()}${edge.output()}`).not.toContain('"level":50');
});

async function send(
  { publicUrl }: RoleProcess,
  agent: Agent,
): Promise<{ status: number | undefined; connection: string | undefined; reused: boolean }> {
  const sent = request(`${publicUrl}/healthz`, { agent }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  await once(response.resume(), "end");
  const { statusCode: status, headers } = response;
  return { status, connection: headers.connection, reused: sent.reusedSocket };
}
