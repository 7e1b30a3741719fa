import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { followLog } from "../support/clients/log-stream.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { givenSession } from "../support/service/given-session.ts";
import { LoadBalancer } from "../support/service/load-balancer.ts";
import { openSeparateProcesses, type RoleProcess } from "../support/service/separate-processes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Its build is in progress while several processes are restarted. */
const SLOW = {
  "src/index.ts": `export default { fetch: () => new Response("alive") };`,
  "package.json": JSON.stringify({ scripts: { build: "for n in 1 2 3 4 5 6 7 8; do echo line $n; sleep 1; done" } }),
};
/** Responds after the time in its query, in milliseconds. */
const WAITING = {
  "index.js": `export default { async fetch(request) {
    const ms = Number(new URL(request.url).searchParams.get("ms"));
    await new Promise((resolve) => setTimeout(resolve, ms));
    return new Response("waited");
  } }`,
};

/** The requests of one kind, and what went wrong with some. */
interface Load {
  sent: number;
  failures: string[];
}

/** Sends requests in a loop until `signal` is aborted. `send` returns what was wrong, or `null`. */
async function generate(
  send: (turn: number) => Promise<string | null>,
  signal: AbortSignal,
  pauseMs: number,
): Promise<Load> {
  const load: Load = { sent: 0, failures: [] };
  while (!signal.aborted) {
    const problem = await send(load.sent++).catch((error: Error) => `${error.message}: ${String(error.cause)}`);
    if (problem !== null) load.failures.push(problem);
    await delay(pauseMs);
  }
  return load;
}

function unless(expected: number, { status, text }: { status: number; text: string }): string | null {
  return status === expected ? null : `${status} ${text}`;
}

test("restarting each API and each worker in turn loses no request, no stream and no deployment", async () => {
  await using folder = await temporaryFolder();
  await (await Repository.create(folder.path, "acme/slow")).commitFiles(SLOW);
  await using processes = await openSeparateProcesses({ GIT_BASE_URL: pathToFileURL(folder.path).href });
  const running = new Map<string, RoleProcess>();
  for (const name of ["edge-1", "api-1", "api-2", "worker-1", "worker-2"])
    running.set(name, await processes.start(name));
  const apis = ["api-1", "api-2"].map((name) => running.get(name)?.publicUrl ?? "");
  await using balancer = await LoadBalancer.start(apis);
  const tokens = await processes.tokens();
  const rest = new RestClient(balancer.url, tokens.api_key);
  const gateway = new GatewayClient(balancer.url, tokens.personal_access_token);
  const { session_id: session } = await givenSession(rest);
  const stop = new AbortController();
  const appended: string[] = [];
  const append = async (turn: number): Promise<string | null> => {
    const content = `entry-${turn}`;
    const entries = [{ id: content, role: "user", content }];
    const problem = unless(200, await rest.post(`/v1/sessions/${session}/entries`, { entries }));
    if (problem === null) appended.push(content);
    return problem;
  };
  const callTool = async (): Promise<string | null> => {
    const response = await gateway.call("tools/call", { name: "service_list_apps", arguments: {} });
    return response.body.result?.["isError"] === undefined ? unless(200, response) : response.text;
  };
  const listApps = async () => unless(200, await rest.get("/v1/apps"));
  const loads = [
    generate(listApps, stop.signal, 5),
    generate(listApps, stop.signal, 50),
    generate(append, stop.signal, 20),
    generate(callTool, stop.signal, 150),
  ];
  const deployed = await Promise.all(["one", "two", "three"].map((name) => rest.deploy({ repo: "acme/slow", name })));
  const ids = deployed.map(({ body }) => String(body["app_id"]));
  const logs = ids.map((id) => followUntilEnd(balancer.url, tokens.api_key, `/v1/apps/${id}/logs?follow`));

  for (const name of ["worker-1", "api-1", "worker-2", "api-2"]) {
    await running.get(name)?.end("SIGTERM");
    running.set(name, await processes.start(name));
  }
  await Promise.all(logs);
  stop.abort();
  const results = await Promise.all(loads);
  expect(results.flatMap(({ failures }) => failures)).toEqual([]);
  for (const { sent } of results) expect(sent).toBeGreaterThan(50);
  const { body: transcript } = await rest.get(`/v1/sessions/${session}`);
  expect(transcript["message_count"]).toBe(appended.length);
  for (const [at, id] of ids.entries()) {
    const { body } = await rest.get(`/v1/apps/${id}/deployments`);
    expect(body["deployments"]).toMatchObject([{ number: 1, status: "ready" }]);
    const log = String((await rest.get(`/v1/apps/${id}/logs`)).body["logs"]);
    expect((await logs[at])?.lines.join("\n")).toBe(log.trimEnd());
    expect(log.match(/^\[service\] ready$/gm)).toHaveLength(1);
  }
});

/** Reads an event stream to its end, and connects again with the id of the last event whenever it ends earlier. */
async function followUntilEnd(
  publicUrl: string,
  token: string,
  path: string,
): Promise<{ lines: string[]; streams: number }> {
  const lines: string[] = [];
  let last = "";
  for (let streams = 1; ; streams++) {
    const stream = await followLog(publicUrl, token, path, last === "" ? {} : { "last-event-id": last });
    expect(stream.status).toBe(200);
    await stream.ended;
    lines.push(...stream.lines());
    last = stream.events.findLast(({ id }) => id !== "")?.id ?? last;
    if (stream.events.at(-1)?.event === "end") return { lines, streams };
  }
}

test("an edge that is restarted finishes the requests that it has accepted, and loses none of a load balancer", async () => {
  await using folder = await temporaryFolder();
  await (await Repository.create(folder.path, "acme/waiting")).commitFiles(WAITING);
  await using processes = await openSeparateProcesses({
    GIT_BASE_URL: pathToFileURL(folder.path).href,
    DRAIN_SECONDS: "4",
  });
  const edge = await processes.start("edge-1");
  const api = await processes.start("api-1");
  await processes.start("worker-1");
  const rest = await processes.client(api);
  const { body } = await rest.deploy({ repo: "acme/waiting" });
  await expect.poll(async () => (await rest.get(`/v1/apps/${String(body["app_id"])}`)).body["status"]).toBe("ready");
  const direct = new URL(String(body["url"]));
  const address = { url: `http://127.0.0.1:${direct.port}`, readyz: `${edge.publicUrl}/readyz` };
  await using balancer = await LoadBalancer.start([address]);
  const balanced = new URL(direct);
  balanced.port = new URL(balancer.url).port;
  const stop = new AbortController();
  let answered = 0;
  const send = async (): Promise<string | null> => {
    const problem = unless(200, await appRequest(new URL("?ms=20", balanced).href));
    if (problem === null) answered += 1;
    return problem;
  };
  const loads = [generate(send, stop.signal, 5), generate(send, stop.signal, 5)];
  await expect.poll(() => answered).toBeGreaterThan(20);
  const slow = appRequest(new URL("?ms=6000", direct).href);
  await edge.end("SIGTERM");
  expect(await slow).toMatchObject({ status: 200, text: "waited" });
  await expect(appRequest(direct.href)).rejects.toThrow("ECONNREFUSED");
  await processes.start("edge-1");
  const before = answered;
  await expect.poll(() => answered).toBeGreaterThan(before + 20);
  stop.abort();
  const results = await Promise.all(loads);
  const failures = results.flatMap((load) => load.failures);
  expect(failures.filter((problem) => problem !== "502 no backend is ready")).toEqual([]);
});
