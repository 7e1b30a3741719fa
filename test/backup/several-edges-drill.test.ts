import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { expect } from "vitest";
import { SharedBucket } from "../../server/platforms/embedded/cluster/shared-bucket.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { appRequest } from "../support/edge/app-request.ts";
import {
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
import { waitFor } from "../support/time-limits.ts";
import { hazard, verifies } from "../support/verifies.ts";

const run = promisify(execFile);
const TENANTS = 3;
const NAMES = ["edge-1", "edge-2", "worker-1", "api-1"];
/** Of a machine that is not an edge, as far as the commands need them. */
const ADMIN = { ROLES: "api,worker", EDGE_INTERNAL_URL: "https://127.0.0.1:1" };

/** Tables that only deployments and operators change. */
const TABLES = ["apps", "deployments", "app_procedures", "organizations"];

async function startAll(processes: SeparateProcesses): Promise<RoleProcess[]> {
  const started: RoleProcess[] = [];
  for (const name of NAMES) started.push(await processes.start(name));
  return started;
}

async function endAll(running: RoleProcess[]): Promise<void> {
  for (const each of running.toReversed()) await each.end("SIGTERM");
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

async function readTables(url: string): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables: Record<string, string[]> = {};
  for (const table of TABLES)
    tables[table] = (
      await client.query<{ row: string }>(`select t::text as row from "${table}" t order by 1`)
    ).rows.map(({ row }) => row);
  await client.end();
  return tables;
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
    const api = (await startAll(living)).at(-1);
    const tenants = await Promise.all(
      (await living.createOrganizations(TENANTS)).map(async ({ api_key: key }) => {
        const rest = new RestClient(api?.publicUrl ?? "", key);
        const app = await deployReady(rest, "acme/store");
        return { key, app, writer: new Writer(app.url) };
      }),
    );
    for (const { writer } of tenants) writer.start();
    await waitFor(() => expect(Math.min(...tenants.map(({ writer }) => writer.acknowledged))).toBeGreaterThan(10));

    const before = tenants.map(({ writer }) => writer.acknowledged);
    const [dump, place] = [path.join(folder.path, "service.dump"), path.join(folder.path, "backups")];
    const tables = await readTables(living.settings["DATABASE_URL"] ?? "");
    await run("pg_dump", ["-Fc", "-d", living.settings["DATABASE_URL"] ?? "", "-f", dump]);
    const source = { ...living.settings, ...ADMIN, DATA_DIR: path.join(folder.path, "backup-data") };
    const made = await runAdmin(source, "backup", place, "--json");
    expect([made.stderr, made.code]).toEqual(["", 0]);
    expect(JSON.parse(made.stdout)).toMatchObject({ warnings: [] });
    for (const { writer } of tenants) await writer.stop();
    const objects = await readObjects(living);

    await using database = await createCopy();
    await run("pg_restore", ["--no-owner", "-d", database.url, dump]);
    expect(await readTables(database.url)).toEqual(tables);
    await using copy = await openSeparateProcesses({ ...env, DATABASE_URL: database.url }, { edges: 2 });
    const target = { ...copy.settings, ...ADMIN, DATA_DIR: path.join(folder.path, "restore-data") };
    const onLiving = await runAdmin(
      { ...target, DATABASE_URL: living.settings["DATABASE_URL"] ?? "" },
      "restore",
      place,
    );
    expect([onLiving.code, onLiving.stderr]).toEqual([1, expect.stringContaining("Restore its dump to another")]);
    const restored = await runAdmin(target, "restore", place, "--json");
    expect([restored.stderr, restored.code]).toEqual(["", 0]);
    expect(await readObjects(copy)).toEqual(objects);
    const onUsedBucket = { ...source, DATABASE_URL: database.url, DATA_DIR: path.join(folder.path, "another") };
    const refused = await runAdmin(onUsedBucket, "restore", place);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("belong to an installation")]);

    const running = await startAll(copy);
    const restOf = (key: string) => new RestClient(running.at(-1)?.publicUrl ?? "", key);
    for (const [at, { key, app }] of tenants.entries()) {
      const { body } = await restOf(key).get(`/v1/apps/${app.id}`);
      const url = String(body["url"]);
      expect(url).toContain(`:${copy.edgePort}`);
      expectWorkerState(await readState<WorkerState>(url), before[at] ?? 0);
      const withToken = (token: string) => appRequest(url, { headers: { authorization: `Bearer ${token}` } });
      expect((await withToken(String(body["app_token"]))).status).toBe(200);
      expect((await withToken(`${String(body["app_token"])}0`)).status).toBe(401);
      expect((await restOf(key).delete(`/v1/apps/${app.id}`)).status).toBe(503);
    }
    await endAll(running);

    // The living installation is as before, also when the copy has taken over.
    const taken = await runAdmin(target, "restore", "--take-over", "--json");
    expect([taken.stderr, taken.code]).toEqual(["", 0]);
    running.splice(0, running.length, ...(await startAll(copy)));
    for (const { key, app, writer } of tenants) {
      expect((await restOf(key).delete(`/v1/apps/${app.id}`)).status).toBe(200);
      const { body } = await new RestClient(api?.publicUrl ?? "", key).get(`/v1/apps/${app.id}`);
      expect(body["status"]).toBe("ready");
      expectWorkerState(await readState<WorkerState>(app.url), writer.acknowledged);
    }
  },
  { skip: SERVICES === null },
);
