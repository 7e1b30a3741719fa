import path from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { expect } from "vitest";
import { appsDatabaseFolder, startAppsPostgres } from "../../server/database/apps-postgres.ts";
import { databaseFolder, EmbeddedPostgres } from "../../server/database/embedded/embedded-postgres.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import {
  createBackupApps,
  deployReady,
  expectWorkerState,
  numbersUpTo,
  readState,
  type ServerState,
  type WorkerState,
  Writer,
} from "../support/service/backup-apps.ts";
import { readInstallationFiles } from "../support/service/installation-files.ts";
import { runAdmin } from "../support/service/run-admin.ts";
import { createInstallation } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** The place of the backups, the repositories, and an installation with both apps. */
async function givenApps() {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  await createBackupApps(folder.path);
  const env = { GIT_BASE_URL: pathToFileURL(folder.path).href };
  const installation = opening.use(await createInstallation());
  const service = await installation.start(env);
  const worker = await deployReady(service.rest, "acme/store");
  const server = await deployReady(service.rest, "acme/server");
  const opened = opening.move();
  return {
    ...{ env, installation, service, worker, server },
    place: path.join(folder.path, "backups"),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

verifies(
  hazard(70),
  "a backup under load restores beside the living installation with everything that was acknowledged before it",
  async () => {
    await using given = await givenApps();
    const { env, installation, service, worker, server, place } = given;
    const writers = [new Writer(worker.url), new Writer(server.url)] as const;
    for (const writer of writers) writer.start();
    await waitFor(() => expect(Math.min(...writers.map((each) => each.acknowledged))).toBeGreaterThan(20));
    const deployed = await deployReady(service.rest, "acme/store");
    // It is in progress while the backup is made.
    expect((await service.rest.post(`/v1/apps/${deployed.id}/deployments`, {})).status).toBe(201);
    const before = writers.map((each) => each.acknowledged);
    const made = await runAdmin({ DATA_DIR: installation.dataDirectory }, "backup", place, "--json");
    expect([made.stderr, made.code]).toEqual(["", 0]);
    expect(JSON.parse(made.stdout)).toMatchObject({ is_encrypted: false, warnings: [] });
    for (const writer of writers) await writer.stop();

    await using copy = await createInstallation();
    const copied = { DATA_DIR: copy.dataDirectory };
    const restored = await runAdmin(copied, "restore", place, "--json");
    expect([restored.stderr, restored.code]).toEqual(["", 0]);
    const second = await copy.start(env);
    expect(second.output()).toContain("restore --take-over");
    const urlOf = async (id: string) => String((await second.rest.get(`/v1/apps/${id}`)).body["url"]);
    expectWorkerState(await readState(await urlOf(worker.id)), before[0] ?? 0);
    const state = await readState<ServerState>(await urlOf(server.id));
    for (const numbers of Object.values(state) as number[][]) {
      expect(numbers).toEqual(numbersUpTo(numbers.length));
      expect(numbers.length).toBeGreaterThanOrEqual(before[1] ?? 0);
    }
    expect((await second.rest.delete(`/v1/apps/${worker.id}`)).status).toBe(503);
    expect(await second.end("SIGTERM")).toBe(0);

    // The interrupted deployments of the copy continue after it has taken over. The living installation is as before.
    expect((await runAdmin(copied, "restore", "--take-over", "--json")).code).toBe(0);
    const third = await copy.start(env);
    await waitFor(async () => expect((await third.rest.get(`/v1/apps/${deployed.id}`)).body["status"]).toBe("ready"));
    expect((await third.rest.delete(`/v1/apps/${worker.id}`)).status).toBe(200);
    expect((await readState<WorkerState>(worker.url)).rows).toHaveLength(writers[0].acknowledged);
    expect((await readState<ServerState>(server.url)).rows).toHaveLength(writers[1].acknowledged);
  },
);

/** Every row of every table of every database of a server. */
async function readTables(url: string): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  const query = async <T extends object>(database: string, text: string): Promise<T[]> => {
    const client = new pg.Client({ connectionString: url.replace(/[^/]*$/, database) });
    await client.connect();
    const { rows } = await client.query<T>(text);
    await client.end();
    return rows;
  };
  const databases = await query<{ name: string }>(
    "postgres",
    "select datname as name from pg_database where not datistemplate order by 1",
  );
  for (const { name } of databases) {
    const found = await query<{ table: string }>(
      name,
      `select format('%I.%I', schemaname, tablename) as table from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    for (const { table } of found)
      tables[`${name} ${table}`] = (
        await query<{ row: string }>(name, `select t::text as row from ${table} t order by 1`)
      ).map(({ row }) => row);
  }
  return tables;
}

async function readDatabases(dataDirectory: string): Promise<Record<string, string[]>[]> {
  const log = createLogger("silent");
  await using service = await EmbeddedPostgres.start(databaseFolder(dataDirectory), log);
  await using apps = await startAppsPostgres(appsDatabaseFolder(dataDirectory), log);
  return [await readTables(service.url), await readTables(apps.url)];
}

verifies(
  hazard(70),
  "a backup of a stopped installation restores to an equal one: byte for byte in files, row for row in databases",
  async () => {
    await using given = await givenApps();
    const { installation, service, worker, server, place } = given;
    const writers = [new Writer(worker.url), new Writer(server.url)];
    for (const writer of writers) writer.start();
    await waitFor(() => expect(Math.min(...writers.map((each) => each.acknowledged))).toBeGreaterThan(20));
    for (const writer of writers) await writer.stop();
    expect(await service.end("SIGTERM")).toBe(0);
    const made = await runAdmin({ DATA_DIR: installation.dataDirectory }, "backup", place);
    expect([made.stderr, made.code]).toEqual(["", 0]);
    await using copy = await createInstallation();
    const restored = await runAdmin({ DATA_DIR: copy.dataDirectory }, "restore", place);
    expect([restored.stderr, restored.code]).toEqual(["", 0]);
    const files = await readInstallationFiles(installation.dataDirectory);
    expect(Object.keys(files).length).toBeGreaterThan(30);
    expect(await readInstallationFiles(copy.dataDirectory)).toEqual(files);
    const databases = await readDatabases(installation.dataDirectory);
    expect(Object.keys(databases[0] ?? {}).length).toBeGreaterThan(30);
    expect(await readDatabases(copy.dataDirectory)).toEqual(databases);
  },
);
