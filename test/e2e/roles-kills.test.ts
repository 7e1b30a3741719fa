import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { appRequest } from "../support/edge/app-request.ts";
import {
  openSeparateProcesses,
  type RoleProcess,
  type SeparateProcesses,
} from "../support/service/separate-processes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { TEST_LIMIT_MS } from "../support/time-limits.ts";

/** `npm run test:crash` deploys more apps. */
const APPS = process.env["TEST_KILLS"] === undefined ? 4 : 50;
const LIMIT_MS = TEST_LIMIT_MS + APPS * 20_000;
const NAMES = ["api-1", "worker-1", "edge-1", "api-2", "worker-2"];

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

test(
  `${APPS} deployments end, and no acknowledged write is lost, while each process is killed in turn`,
  { timeout: LIMIT_MS },
  async () => {
    await using folder = await temporaryFolder();
    await (await Repository.create(folder.path, "acme/counter")).commitFiles(COUNTER);
    const plans = path.join(folder.path, "plans.json");
    await writeFile(plans, JSON.stringify({ free: { apps: 500, deploys: { limit: 1000, window_seconds: 300 } } }));
    await using processes = await openSeparateProcesses({
      GIT_BASE_URL: pathToFileURL(folder.path).href,
      PLANS_FILE: plans,
      LOG_LEVEL: "warn",
    });
    const running = new Map<string, RoleProcess>();
    for (const name of ["edge-1", ...NAMES.filter((each) => each !== "edge-1")])
      running.set(name, await processes.start(name));
    const stop = new AbortController();
    const accepted = new Map<string, { url: string; writes: number }>();
    const traffic = writeToApps(accepted, stop.signal);
    const kills = killInTurn(processes, running, stop.signal);
    while (accepted.size < APPS) await deployOnce(processes, running, accepted);
    const statuses = await untilTerminal(processes, running, [...accepted.keys()]);
    stop.abort();
    await Promise.all([traffic, kills]);
    // Three interruptions end a deployment.
    const problems = [...statuses.values()].filter((problem) => problem !== null);
    expect(problems.filter((problem) => !problem.includes("interrupted"))).toEqual([]);
    const ready = [...accepted].flatMap(([id, app]) => (statuses.get(id) === null ? [app] : []));
    expect(ready.length).toBeGreaterThan(APPS / 2);
    for (const { url, writes } of ready) {
      const { status, text } = await untilResponse(url);
      expect(status).toBe(200);
      expect(Number(text)).toBeGreaterThanOrEqual(writes);
    }
    const rest = await processes.client(running.get("api-2") as RoleProcess);
    expect((await rest.get(`/v1/apps?limit=100`)).body["apps"]).toHaveLength(APPS);
  },
);

/** A deployment that is not acknowledged is requested again with the same key, so that none exists twice. */
async function deployOnce(
  processes: SeparateProcesses,
  running: Map<string, RoleProcess>,
  accepted: Map<string, { url: string; writes: number }>,
): Promise<void> {
  const key = `deployment-${accepted.size}`;
  for (let turn = 0; ; turn++) {
    const api = running.get(turn % 2 === 0 ? "api-1" : "api-2") as RoleProcess;
    const rest = await processes.client(api);
    const response = await rest.deploy({ repo: "acme/counter" }, { "idempotency-key": key }).catch(() => null);
    if (response?.status === 201 || response?.status === 200) {
      accepted.set(String(response.body["app_id"]), { url: String(response.body["url"]), writes: 0 });
      return;
    }
    await delay(200);
  }
}

async function killInTurn(
  processes: SeparateProcesses,
  running: Map<string, RoleProcess>,
  signal: AbortSignal,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    await delay(3000, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const name = NAMES[turn % NAMES.length] ?? "";
    await running.get(name)?.end("SIGKILL");
    running.set(name, await processes.start(name));
  }
}

/** Writes to the apps in turn. Only a write with a response counts. */
async function writeToApps(apps: Map<string, { url: string; writes: number }>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const app of apps.values()) {
      const response = await appRequest(app.url, { method: "POST" }).catch(() => null);
      if (response?.status === 200) app.writes += 1;
    }
    await delay(20);
  }
}

/** Returns the error of each deployment when all have ended; `null` for those that are ready. */
async function untilTerminal(
  processes: SeparateProcesses,
  running: Map<string, RoleProcess>,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  const ended = new Map<string, string | null>();
  while (ended.size < ids.length) {
    const rest = await processes.client(running.get("api-2") as RoleProcess);
    for (const id of ids) {
      const { body } = await rest.get(`/v1/apps/${id}`).catch(() => ({ body: {} as Record<string, unknown> }));
      if (body["status"] === "ready") ended.set(id, null);
      if (body["status"] === "failed") ended.set(id, String(body["error"]));
    }
    await delay(500);
  }
  return ended;
}

async function untilResponse(url: string): Promise<{ status: number; text: string }> {
  for (;;) {
    const response = await appRequest(url).catch(() => null);
    if (response?.status === 200) return response;
    await delay(500);
  }
}
