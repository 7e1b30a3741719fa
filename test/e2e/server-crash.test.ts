import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { expect } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import { postgresProject } from "../support/edge/postgres-client.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { createInstallation, type ServiceProcess, stillRunning } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

/** Its migration takes a second between its two statements. */
async function serverFiles(): Promise<Record<string, string>> {
  return {
    ...(await postgresProject()),
    "migrate.js": `
      const { Client } = require("pg");
      (async () => {
        const db = new Client();
        await db.connect();
        await db.query("create table if not exists items (name text primary key)");
        await db.query("select pg_sleep(1)");
        await db.query("insert into items values ('migrated') on conflict do nothing");
        await db.end();
      })();`,
    "server.js": `
      const { Pool } = require("pg");
      const pool = new Pool();
      pool.on("error", () => {});
      require("http").createServer(async (request, response) => {
        const { rows } = await pool.query("select name from items");
        response.end(JSON.stringify(rows));
      }).listen(process.env.PORT);`,
  };
}

/** A service that deploys the server. */
async function givenDeployment() {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const installation = opening.use(await createInstallation());
  await (await Repository.create(folder.path, "acme/server")).commitFiles(await serverFiles());
  const env = { GIT_BASE_URL: pathToFileURL(folder.path).href };
  const first = await installation.start(env);
  const { body } = await first.rest.deploy({ repo: "acme/server" });
  const opened = opening.move();
  return { installation, env, first, id: String(body["app_id"]), [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function statusOf({ rest }: ServiceProcess, id: string): Promise<string> {
  const { status, body } = await rest.get(`/v1/apps/${id}`);
  return status === 404 ? "absent" : String(body["status"]);
}

async function until(service: ServiceProcess, id: string, statuses: RegExp): Promise<void> {
  await waitFor(async () => expect(await statusOf(service, id)).toMatch(statuses));
}

/** The databases and roles of apps in the PostgreSQL server of an installation, while its service runs. */
async function readDatabases(dataDirectory: string): Promise<unknown[]> {
  const folder = path.join(dataDirectory, "apps-database");
  const password = await readFile(path.join(folder, "password"), "utf8");
  const client = new pg.Client({ host: path.join(folder, "run"), user: "service", password, database: "postgres" });
  await client.connect();
  const select = `select datname as name from pg_database where datname like 'app%' union all
    select rolname from pg_roles where rolname like 'app%' union all select name from service.app_databases`;
  const { rows } = await client.query(select);
  await client.end();
  return rows;
}

/** In milliseconds after the deployment is provisioning, and after the app is being deleted. `npm run test:crash` kills at more moments. */
const [MIGRATION_KILLS, DELETION_KILLS] =
  process.env["TEST_KILLS"] === undefined
    ? [[700], [0]]
    : [
        [0, 200, 400, 800, 1200, 1600, 2000],
        [0, 50, 200],
      ];

const CONCURRENT = { concurrent: true };

for (const killMs of MIGRATION_KILLS)
  verifies(
    [hazard(41), hazard(42)],
    `a service that is killed ${killMs} ms into the provisioning of a server with a database finishes it, and deletes all of it`,
    async () => {
      await using given = await givenDeployment();
      const { installation, env, first, id } = given;
      await until(first, id, /provisioning|ready/);
      await delay(killMs);
      const children = await first.descendants();
      await first.end("SIGKILL");
      const second = await installation.start(env);
      await until(second, id, /ready|failed/);
      const app = (await second.rest.get(`/v1/apps/${id}`)).body;
      expect(app).toMatchObject({ status: "ready", error: null });
      expect(await appRequest(String(app["url"]))).toEqual({ status: 200, text: `[{"name":"migrated"}]` });
      expect(await stillRunning(children)).toEqual([]);
      await second.rest.delete(`/v1/apps/${id}`);
      await until(second, id, /absent/);
      expect(await readDatabases(installation.dataDirectory)).toEqual([]);
      await second.end("SIGTERM");
    },
    CONCURRENT,
  );

for (const killMs of DELETION_KILLS)
  verifies(
    hazard(60),
    `a service that is killed ${killMs} ms into the deletion of a server with a database finishes it`,
    async () => {
      await using given = await givenDeployment();
      const { installation, env, first, id } = given;
      await until(first, id, /ready|failed/);
      expect(await readDatabases(installation.dataDirectory)).toHaveLength(3);
      const deletion = first.rest.delete(`/v1/apps/${id}`).catch(() => undefined);
      await until(first, id, /deleting|absent/);
      await delay(killMs);
      await first.end("SIGKILL");
      await deletion;
      const second = await installation.start(env);
      await until(second, id, /absent/);
      const next = await second.rest.deploy({ repo: "acme/server" });
      await until(second, String(next.body["app_id"]), /ready|failed/);
      expect(await readDatabases(installation.dataDirectory)).toHaveLength(3);
      expect(await readdir(path.join(installation.dataDirectory, "edge/databases"))).toHaveLength(1);
      await second.end("SIGTERM");
    },
    CONCURRENT,
  );
