import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { expect } from "vitest";
import { SharedBucket } from "../../server/platforms/embedded/cluster/shared-bucket.ts";
import { deployUntilAccepted } from "../support/clients/deploy-until-accepted.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { appRequest } from "../support/edge/app-request.ts";
import {
  type BackupApp,
  createBackupApps,
  deployReady,
  expectWorkerState,
  readState,
  type WorkerState,
  Writer,
} from "../support/service/backup-apps.ts";
import { runAdmin } from "../support/service/run-admin.ts";
import {
  openSeparateProcesses,
  type RoleProcess,
  type SeparateProcesses,
} from "../support/service/separate-processes.ts";
import { databaseUrl, executeOnServer, postgresServer, SERVICES } from "../support/service/test-databases.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { TEST_LIMIT_MS, waitFor } from "../support/time-limits.ts";
import { hazard, verifies } from "../support/verifies.ts";

const run = promisify(execFile);
/** `npm run test:crash` has more processes and organizations, deploys while the backup is made, and kills each process in turn. */
const IS_LONG = process.env["TEST_KILLS"] !== undefined;
const TENANTS = IS_LONG ? 20 : 3;
const NAMES = IS_LONG
  ? ["edge-1", "edge-2", "worker-1", "worker-2", "api-1", "api-2"]
  : ["edge-1", "edge-2", "worker-1", "api-1"];
/** Of a machine that is not an edge, as far as the commands need them. */
const ADMIN = { ROLES: "api,worker", EDGE_INTERNAL_URL: "https://127.0.0.1:1" };

/** Rows that only deployments and operators change, of apps whose ids are in `$1`. */
const TABLES = {
  apps: "select t::text as row from apps t where id = any($1) order by 1",
  deployments: "select t::text as row from deployments t where app_id = any($1) order by 1",
  app_procedures: "select t::text as row from app_procedures t where app_id = any($1) order by 1",
  organizations: "select t::text as row from organizations t where $1::text[] is not null order by 1",
};

/** An organization, and the app that it writes to. */
interface Tenant {
  key: string;
  app: BackupApp;
  writer: Writer;
}

/** The processes that run, by their names. */
type Running = Map<string, RoleProcess>;

async function startAll(processes: SeparateProcesses): Promise<Running> {
  const started: Running = new Map();
  for (const name of NAMES) started.set(name, await processes.start(name));
  return started;
}

async function endAll(running: Running): Promise<void> {
  for (const each of [...running.values()].toReversed()) await each.end("SIGTERM");
}

/** A client of `api-1`, which has the same address whenever it is started again. */
function restOf(running: Running, key: string): RestClient {
  return new RestClient(running.get("api-1")?.publicUrl ?? "", key);
}

/** Kills one process after the other until `signal` is aborted, and adds the name of each that runs again to `killed`. */
async function killInTurn(
  processes: SeparateProcesses,
  running: Running,
  killed: string[],
  signal: AbortSignal,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const name = NAMES[turn % NAMES.length] ?? "";
    await running.get(name)?.end("SIGKILL");
    running.set(name, await processes.start(name));
    killed.push(name);
    await delay(2000);
  }
}

function bucketOf({ settings }: SeparateProcesses): SharedBucket {
  return new SharedBucket({
    endpoint: settings["S3_ENDPOINT"] ?? "",
    bucket: settings["S3_BUCKET"] ?? "",
    region: settings["S3_REGION"] ?? "",
    accessKeyId: settings["S3_ACCESS_KEY_ID"] ?? "",
    secretAccessKey: settings["S3_SECRET_ACCESS_KEY"] ?? "",
    prefix: "",
  });
}

/** The objects that no app changes, by key. */
async function readObjects(processes: SeparateProcesses): Promise<Record<string, string>> {
  using bucket = bucketOf(processes);
  const objects: Record<string, string> = {};
  for await (const { key } of bucket.list(""))
    if (!/^installation\/|^edge\/(?:data|installation|backup)/.test(key))
      objects[key] = (await bucket.read(key))?.bytes.toString("base64") ?? "";
  return objects;
}

async function readTables(url: string, tenants: readonly Tenant[]): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const ids = tenants.map(({ app }) => app.id);
  const tables: Record<string, string[]> = {};
  for (const [table, query] of Object.entries(TABLES))
    tables[table] = (await client.query<{ row: string }>(query, [ids])).rows.map(({ row }) => row);
  await client.end();
  return tables;
}

/** The statuses of the apps whose deployments have not ended. */
async function unfinishedApps(rest: RestClient): Promise<string[]> {
  const { body } = await rest.get("/v1/apps?limit=100");
  const statuses = (body["apps"] as { status: string }[]).map(({ status }) => status);
  return statuses.filter((status) => status !== "ready" && status !== "failed");
}

/** A database for a dump, on the server of the tests. */
async function createCopy() {
  const name = `copy_${randomBytes(8).toString("hex")}`;
  await executeOnServer(postgresServer(), `create database ${name}`);
  return {
    url: databaseUrl(postgresServer(), name),
    [Symbol.asyncDispose]: () => executeOnServer(postgresServer(), `drop database ${name} with (force)`),
  };
}

// The programs of Debian read the server outside of the service. They are older than the embedded one.
verifies(
  hazard(70),
  "a backup of several edges under load restores beside the living installation with everything that was acknowledged before it",
  async () => {
    await using folder = await temporaryFolder();
    await createBackupApps(folder.path);
    const env = { GIT_BASE_URL: pathToFileURL(folder.path).href, LOG_LEVEL: "warn" };
    await using living = await openSeparateProcesses(env, { edges: 2 });
    const onLiving = await startAll(living);
    const tenants: Tenant[] = await Promise.all(
      (await living.createOrganizations(TENANTS)).map(async ({ api_key: key }) => {
        const app = await deployReady(restOf(onLiving, key), "acme/store");
        return { key, app, writer: new Writer(app.url, { repeats: IS_LONG }) };
      }),
    );
    for (const { writer } of tenants) writer.start();
    await waitFor(() => expect(Math.min(...tenants.map(({ writer }) => writer.acknowledged))).toBeGreaterThan(10));

    const [dump, place] = [path.join(folder.path, "service.dump"), path.join(folder.path, "backups")];
    const source = { ...living.settings, ...ADMIN, DATA_DIR: path.join(folder.path, "backup-data") };
    const stopKills = new AbortController();
    const killed: string[] = [];
    const expectedKills = IS_LONG ? NAMES.length : 0;
    const load = IS_LONG
      ? Promise.all([
          killInTurn(living, onLiving, killed, stopKills.signal),
          ...tenants.map(({ key }) => deployUntilAccepted(() => restOf(onLiving, key), "acme/store", key)),
        ])
      : Promise.resolve();
    let before: number[];
    let [tables, objectsBefore]: [Record<string, string[]>, Record<string, string>] = [{}, {}];
    do {
      before = tenants.map(({ writer }) => writer.acknowledged);
      tables = await readTables(living.settings["DATABASE_URL"] ?? "", tenants);
      objectsBefore = await readObjects(living);
      await run("pg_dump", ["-Fc", "-d", living.settings["DATABASE_URL"] ?? "", "-f", dump]);
      const made = await runAdmin(source, "backup", place, "--json");
      expect([made.stderr, made.code]).toEqual(["", 0]);
      expect(JSON.parse(made.stdout)).toMatchObject({ warnings: [] });
    } while (killed.length < expectedKills);
    stopKills.abort();
    await load;
    for (const { writer } of tenants) await writer.stop();
    const objects = await readObjects(living);

    await using database = await createCopy();
    await run("pg_restore", ["--no-owner", "-d", database.url, dump]);
    expect(await readTables(database.url, tenants)).toEqual(tables);
    await using copy = await openSeparateProcesses({ ...env, DATABASE_URL: database.url }, { edges: 2 });
    const target = { ...copy.settings, ...ADMIN, DATA_DIR: path.join(folder.path, "restore-data") };
    const toLiving = { ...target, DATABASE_URL: living.settings["DATABASE_URL"] ?? "" };
    const onLivingDatabase = await runAdmin(toLiving, "restore", place);
    expect([onLivingDatabase.code, onLivingDatabase.stderr]).toEqual([
      1,
      expect.stringContaining("Restore its dump to another"),
    ]);
    const restored = await runAdmin(target, "restore", place, "--json");
    expect([restored.stderr, restored.code]).toEqual(["", 0]);
    const copied = await readObjects(copy);
    // Deployments that were in progress have continued their build logs.
    const finished = Object.entries(objectsBefore).filter(([key]) => !key.startsWith("build-logs/"));
    expect(copied).toEqual(IS_LONG ? { ...copied, ...Object.fromEntries(finished) } : objects);
    const onUsedBucket = { ...source, DATABASE_URL: database.url, DATA_DIR: path.join(folder.path, "another") };
    const refused = await runAdmin(onUsedBucket, "restore", place);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("belong to an installation")]);

    const onCopy = await startAll(copy);
    for (const [at, { key, app }] of tenants.entries()) {
      const rest = restOf(onCopy, key);
      const { body } = await rest.get(`/v1/apps/${app.id}`);
      const url = String(body["url"]);
      expect(url).toContain(`:${copy.edgePort}`);
      expectWorkerState(await readState<WorkerState>(url), before[at] ?? 0);
      const withToken = (token: string) => appRequest(url, { headers: { authorization: `Bearer ${token}` } });
      expect((await withToken(String(body["app_token"]))).status).toBe(200);
      expect((await withToken(`${String(body["app_token"])}0`)).status).toBe(401);
      expect((await rest.delete(`/v1/apps/${app.id}`)).status).toBe(503);
    }
    await endAll(onCopy);

    // The living installation is as before, also when the copy has taken over.
    const taken = await runAdmin(target, "restore", "--take-over", "--json");
    expect([taken.stderr, taken.code]).toEqual(["", 0]);
    const afterwards = await startAll(copy);
    for (const { key, app, writer } of tenants) {
      const rest = restOf(afterwards, key);
      // Deployments that were in progress when the dump was made end in the copy.
      await waitFor(async () => expect(await unfinishedApps(rest)).toEqual([]));
      expect((await rest.delete(`/v1/apps/${app.id}`)).status).toBe(200);
      const { body } = await restOf(onLiving, key).get(`/v1/apps/${app.id}`);
      expect(body["status"]).toBe("ready");
      expectWorkerState(await readState<WorkerState>(app.url), writer.acknowledged);
    }
  },
  { skip: SERVICES === null, timeout: IS_LONG ? 3 * TEST_LIMIT_MS : TEST_LIMIT_MS },
);
