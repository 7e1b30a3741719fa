import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { deployUntilAccepted } from "../support/clients/deploy-until-accepted.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { appRequest } from "../support/edge/app-request.ts";
import {
  openSeparateProcesses,
  type RoleProcess,
  type SeparateProcesses,
} from "../support/service/separate-processes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { TEST_LIMIT_MS } from "../support/time-limits.ts";

/** `npm run test:crash` deploys more apps, of more organizations. */
const IS_LONG = process.env["TEST_KILLS"] !== undefined;
const APPS = IS_LONG ? 50 : 4;
const TENANTS = IS_LONG ? 20 : 2;
const LIMIT_MS = TEST_LIMIT_MS + APPS * 20_000;
/** Far more than an app needs, on a slow machine too. */
const RESPONSE_LIMIT_MS = 180_000;
const NAMES = ["api-1", "worker-1", "edge-1", "api-2", "worker-2"];
/** With several edges, which are a cluster. */
const CLUSTER_NAMES = ["api-1", "worker-1", "edge-1", "api-2", "worker-2", "edge-2"];

/** Adds a row to its database, and returns how many there are. */
const COUNTER = {
  "wrangler.json": JSON.stringify({
    name: "counter",
    main: "index.js",
    compatibility_date: "2026-01-01",
    d1_databases: [{ binding: "DB", database_name: "counter", database_id: "counter" }],
  }),
  "migrations/1.sql": "CREATE TABLE requests (id INTEGER PRIMARY KEY);",
  "index.js": `export default { async fetch(request, { DB }) {
    if (request.method === "POST") await DB.prepare("INSERT INTO requests DEFAULT VALUES").run();
    return Response.json(await DB.prepare("SELECT count(*) AS count FROM requests").first("count"));
  } }`,
};

interface DeployedApp {
  url: string;
  /** How many writes were acknowledged. */
  writes: number;
}

/** An organization, and its apps by their ids. */
interface Tenant {
  key: string;
  apps: Map<string, DeployedApp>;
}

/** What the processes of one test are, and who uses them. */
interface Drill {
  /** The processes, in the order of the kills. */
  names: readonly string[];
  processes: SeparateProcesses;
  running: Map<string, RoleProcess>;
  tenants: Tenant[];
  kills: Kill[];
  reads: number;
}

/** A killed process, and how long each app that had served before took to respond again, in milliseconds. */
interface Kill {
  name: string;
  recoveriesMs: number[];
}

const ONE_EDGE = { kind: "one edge", names: NAMES };
const TWO_EDGES = { kind: "two edges", names: CLUSTER_NAMES };

test.for(IS_LONG ? [ONE_EDGE, TWO_EDGES] : [TWO_EDGES])(
  `${APPS} deployments of ${TENANTS} organizations end, and no acknowledged write is lost, while each process is killed in turn ($kind)`,
  { timeout: LIMIT_MS },
  async ({ names }) => {
    await using folder = await temporaryFolder();
    await (await Repository.create(folder.path, "acme/counter")).commitFiles(COUNTER);
    const plans = path.join(folder.path, "plans.json");
    await writeFile(plans, JSON.stringify({ free: { apps: 500, deploys: { limit: 1000, window_seconds: 300 } } }));
    const env = { GIT_BASE_URL: pathToFileURL(folder.path).href, PLANS_FILE: plans, LOG_LEVEL: "warn" };
    const edges = names.filter((name) => name.startsWith("edge-"));
    await using processes = await openSeparateProcesses(env, { edges: edges.length });
    const running = new Map<string, RoleProcess>();
    for (const name of new Set([...edges, ...names])) running.set(name, await processes.start(name));
    const organizations = await processes.createOrganizations(TENANTS);
    const tenants = organizations.map(({ api_key: key }) => ({ key, apps: new Map<string, DeployedApp>() }));
    const drill: Drill = { names, processes, running, tenants, kills: [], reads: 0 };
    const [stop, stopKills] = [new AbortController(), new AbortController()];
    const traffic = tenants.map((tenant) => generateTraffic(drill, tenant, stop.signal));
    const kills = killInTurn(drill, stopKills.signal);
    for (let at = 0; at < APPS; at++) await deployOnce(drill, tenants[at % TENANTS] as Tenant, at);
    const problems = (await Promise.all(tenants.map((tenant) => untilTerminal(drill, tenant)))).flat();
    stopKills.abort();
    await kills;
    stop.abort();
    await Promise.all(traffic);
    // Three interruptions end a deployment.
    expect(problems.filter((problem) => !problem.includes("interrupted"))).toEqual([]);
    const ready = tenants.flatMap(({ apps }) => [...apps.values()]);
    expect(ready.length).toBe(APPS - problems.length);
    expect(ready.length).toBeGreaterThan(APPS / 2);
    for (const { url, writes } of ready) {
      const { status, text } = await untilResponse(url);
      expect(status).toBe(200);
      expect(Number(text)).toBeGreaterThanOrEqual(writes);
    }
    // Each organization has its own apps, and each deployment exists once.
    for (const [at, tenant] of tenants.entries()) {
      const apps = await listApps(restOf(drill, tenant, "api-2"));
      expect(apps).toHaveLength(Math.ceil((APPS - at) / TENANTS));
    }
    const writes = ready.reduce((sum, app) => sum + app.writes, 0);
    const measured = drill.kills.flatMap(({ recoveriesMs }) => recoveriesMs).length;
    expect([drill.kills.length, measured, drill.reads, writes].every((count) => count > 0)).toBe(true);
    if (IS_LONG)
      process.stdout.write(
        `${drill.kills.length} kills, ${APPS} deployments (${problems.length} failed), ${writes} writes, ${drill.reads} lists of apps\n${describeSlowest(drill.kills)}\n`,
      );
  },
);

function restOf({ running }: Drill, { key }: Tenant, api: string): RestClient {
  return new RestClient(running.get(api)?.publicUrl ?? "", key);
}

async function deployOnce(drill: Drill, tenant: Tenant, at: number): Promise<void> {
  const clientOf = (attempt: number) => restOf(drill, tenant, attempt % 2 === 0 ? "api-1" : "api-2");
  const body = await deployUntilAccepted(clientOf, "acme/counter", `deployment-${at}`);
  tenant.apps.set(String(body["app_id"]), { url: String(body["url"]), writes: 0 });
}

/**
 * Kills one process after the other, each when all apps have responded after the last kill, and the first one when an app is
 * ready. The short drill ends after one round, in which each worker is killed once: three interruptions end a deployment, and
 * on a slow machine a deployment takes longer than a round. The long drill continues until all deployments have ended.
 */
async function killInTurn(drill: Drill, signal: AbortSignal): Promise<void> {
  const readyAtAll = async () => (await Promise.all(drill.tenants.map((tenant) => readyApps(drill, tenant)))).flat();
  while ((await readyAtAll()).length === 0 && !signal.aborted) await delay(500);
  const least = drill.names.length * (IS_LONG ? 2 : 1);
  const isFinished = () => drill.kills.length >= least && (!IS_LONG || signal.aborted);
  while (!isFinished()) {
    await delay(3000);
    const name = drill.names[drill.kills.length % drill.names.length] ?? "";
    const apps = await readyAtAll();
    const killedAt = performance.now();
    await drill.running.get(name)?.end("SIGKILL");
    const restarted = drill.processes.start(name).then((started) => drill.running.set(name, started));
    const measure = async ({ url }: DeployedApp) => {
      await untilResponse(url);
      return performance.now() - killedAt;
    };
    const [recoveriesMs] = await Promise.all([Promise.all(apps.map(measure)), restarted]);
    drill.kills.push({ name, recoveriesMs });
    if (IS_LONG) process.stdout.write(`${describeKill({ name, recoveriesMs })}\n`);
  }
}

/** An app serves before its deployment has ended, which may still fail after its third interruption. Such apps are not ready. */
async function readyApps(drill: Drill, tenant: Tenant): Promise<DeployedApp[]> {
  const apps = await listApps(restOf(drill, tenant, "api-1"));
  return apps.flatMap(({ id, status }) => (status === "ready" ? (tenant.apps.get(id) ?? []) : []));
}

async function listApps(rest: RestClient): Promise<{ id: string; status: string }[]> {
  const { status, text, body } = await rest.get("/v1/apps?limit=100");
  if (status !== 200) throw new Error(`the list of apps responds with ${status}: ${text}`);
  return body["apps"] as { id: string; status: string }[];
}

function describeKill({ name, recoveriesMs }: Kill): string {
  const seconds = recoveriesMs.map((ms) => ms / 1000).toSorted((a, b) => a - b);
  const [median = 0, slowest = 0] = [seconds[Math.floor(seconds.length / 2)], seconds.at(-1)];
  return `${name} was killed: ${seconds.length} apps, median ${median.toFixed(1)} s, slowest ${slowest.toFixed(1)} s`;
}

/** The requirement is 40 s. The lease of the engine is 20 s. */
function describeSlowest(kills: readonly Kill[]): string {
  const slowest = Math.max(0, ...kills.flatMap(({ recoveriesMs }) => recoveriesMs));
  return `The slowest app responded ${(slowest / 1000).toFixed(1)} s after a kill.`;
}

/** Writes to the apps of one organization in turn, and lists them. Only a write with a response counts. */
async function generateTraffic(drill: Drill, tenant: Tenant, signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    for (const app of tenant.apps.values()) {
      const response = await appRequest(app.url, { method: "POST" }).catch(() => null);
      if (response?.status !== 200) continue;
      app.writes += 1;
    }
    const listed = await listApps(restOf(drill, tenant, turn % 2 === 0 ? "api-1" : "api-2")).catch(() => null);
    if (listed !== null) drill.reads += 1;
    // The processes, the builds and the clients share the cores of one machine.
    await delay(500);
  }
}

/**
 * Waits until all deployments of an organization have ended, and forgets the apps that failed.
 *
 * @returns the errors of those that failed
 */
async function untilTerminal(drill: Drill, tenant: Tenant): Promise<string[]> {
  const ready = new Set<string>();
  const problems: string[] = [];
  while (ready.size < tenant.apps.size) {
    const rest = restOf(drill, tenant, "api-2");
    for (const { id, status } of await listApps(rest).catch(() => [])) {
      if (status === "ready") ready.add(id);
      if (status !== "failed" || !tenant.apps.has(id)) continue;
      const detail = await rest.get(`/v1/apps/${id}`).catch(() => null);
      if (detail?.status !== 200) continue;
      tenant.apps.delete(id);
      problems.push(String(detail.body["error"]));
    }
    await delay(500);
  }
  return problems;
}

/** Waits for the response of an app, and not without end, so that the last failure is known. A request without a response is none. */
async function untilResponse(url: string): Promise<{ status: number; text: string }> {
  const limit = AbortSignal.timeout(RESPONSE_LIMIT_MS);
  const timeout = once(limit, "abort").then(() => ({ status: 0, text: "no response" }));
  for (;;) {
    const failed = ({ message }: Error) => ({ status: 0, text: message });
    const response = await Promise.race([appRequest(url).catch(failed), timeout]);
    if (response.status === 200) return response;
    if (limit.aborted) throw new Error(`${url} responds with ${response.status}: ${response.text}`);
    await delay(200);
  }
}
