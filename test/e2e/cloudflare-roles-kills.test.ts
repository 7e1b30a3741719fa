import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { CloudflareEmulator } from "../support/cloudflare/emulator.ts";
import {
  openSeparateProcesses,
  type RoleProcess,
  type SeparateProcesses,
} from "../support/service/separate-processes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { TEST_LIMIT_MS } from "../support/time-limits.ts";

const APPS = 4;
const NAMES = ["api-1", "worker-1", "api-2", "worker-2"];

const FILES = {
  "wrangler.json": JSON.stringify({
    name: "counter",
    main: "index.js",
    compatibility_date: "2026-01-01",
    d1_databases: [{ binding: "DB", database_name: "counter", database_id: "counter" }],
    kv_namespaces: [{ binding: "KV", id: "values" }],
  }),
  "migrations/1.sql": "CREATE TABLE requests (id INTEGER PRIMARY KEY);",
  "index.js": `export default { fetch: () => new Response("ready") }`,
};

test(
  `${APPS} deployments to Cloudflare end once, and leave nothing, while two APIs and two workers are killed in turn`,
  { timeout: TEST_LIMIT_MS + APPS * 60_000 },
  async () => {
    await using folder = await temporaryFolder();
    await using emulator = await CloudflareEmulator.open({ runsScripts: false });
    await (await Repository.create(folder.path, "acme/counter")).commitFiles(FILES);
    const { settings } = emulator;
    await using processes = await openSeparateProcesses({
      GIT_BASE_URL: pathToFileURL(folder.path).href,
      LOG_LEVEL: "warn",
      EDGE_PLATFORM: "cloudflare",
      CLOUDFLARE_API_URL: settings.apiUrl,
      CLOUDFLARE_ACCOUNT_ID: settings.accountId,
      CLOUDFLARE_API_TOKEN: settings.apiToken,
      CLOUDFLARE_DISPATCH_NAMESPACE: settings.namespace,
      APPS_DOMAIN: emulator.appsDomain,
    });
    const running = new Map<string, RoleProcess>([["api-1", await processes.start("api-1")]]);
    // At the same time: all use one account as one installation.
    const others = NAMES.slice(1).map(async (name) => running.set(name, await processes.start(name)));
    await Promise.all(others);
    const stop = new AbortController();
    const kills = killInTurn(processes, running, stop.signal);
    const ids: string[] = [];
    for (let count = 0; count < APPS; count++) ids.push(await deployOnce(processes, running, `deployment-${count}`));
    const apps = [];
    for (const id of ids) apps.push(await untilEnded(processes, running, id));
    stop.abort();
    await kills;
    // Three interruptions end a deployment.
    const failed = apps.filter(({ status }) => status === "failed");
    expect(failed.filter(({ error }) => !String(error).includes("interrupted"))).toEqual([]);
    const { state } = emulator.account;
    const slugs = apps.filter(({ status }) => status === "ready").map(({ url }) => new URL(String(url)).hostname);
    expect(slugs.length).toBeGreaterThan(0);
    for (const slug of slugs) expect([...state.scripts.keys()]).toContain(slug.replace(/\..*/, ""));

    const api = running.get("api-1") as RoleProcess;
    const rest = await processes.client(api);
    for (const id of ids) expect((await rest.delete(`/v1/apps/${id}`)).status).toBe(200);
    // The namespace of the edge and the database that names the installation remain. What a killed worker has left, the sweep removes.
    await expect
      .poll(() => [state.scripts.size, state.databases.size, state.namespaces.size, state.buckets.size])
      .toEqual([0, 1, 1, 0]);
    expect((await rest.get("/v1/apps")).body["apps"]).toEqual([]);
  },
);

/** A deployment that is not acknowledged is requested again with the same key, so that none exists twice. */
async function deployOnce(
  processes: SeparateProcesses,
  running: ReadonlyMap<string, RoleProcess>,
  key: string,
): Promise<string> {
  for (let turn = 1; ; turn++) {
    const rest = await processes.client(running.get(`api-${1 + (turn % 2)}`) as RoleProcess);
    const response = await rest.deploy({ repo: "acme/counter" }, { "idempotency-key": key }).catch(() => null);
    if (response?.status === 201 || response?.status === 200) return String(response.body["app_id"]);
    await delay(200);
  }
}

async function killInTurn(
  processes: SeparateProcesses,
  running: Map<string, RoleProcess>,
  signal: AbortSignal,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    await delay(4000, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const name = NAMES[turn % NAMES.length] ?? "";
    await running.get(name)?.end("SIGKILL");
    running.set(name, await processes.start(name));
  }
}

async function untilEnded(
  processes: SeparateProcesses,
  running: ReadonlyMap<string, RoleProcess>,
  id: string,
): Promise<Record<string, unknown>> {
  for (;;) {
    const rest = await processes.client(running.get("api-2") as RoleProcess);
    const { body } = await rest.get(`/v1/apps/${id}`).catch(() => ({ body: {} as Record<string, unknown> }));
    if (body["status"] === "ready" || body["status"] === "failed") return body;
    await delay(500);
  }
}
