import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createCli } from "../support/cli/run-cli.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { postgresProject } from "../support/edge/postgres-client.ts";
import { createInstallation, type ServiceProcess } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";

const ROWS = 20_000;

/** A migration that fails when it is applied twice, and a server that fills its database once, and returns what is in it. */
const filesOf = async () => ({
  ...(await postgresProject()),
  "migrate.js": `const db = new (require("pg").Client)();
    (async () => {
      await db.connect();
      await db.query("create table if not exists migrations (name text primary key)");
      if ((await db.query("select from migrations")).rowCount === 0)
        await db.query("begin; create table items (id serial primary key, name text, changed timestamptz default now());"
          + " create view names as select name from items; insert into migrations values ('0001'); commit");
      await db.end();
    })();`,
  "server.js": `const fs = require("fs");
    const pool = new (require("pg").Pool)({ connectionString: process.env.DATABASE_URL });
    pool.on("error", () => {});
    require("http").createServer(async (request, response) => {
      if (request.url === "/fill") {
        await pool.query("insert into items (name) select 'item ' || n || E'\\\\n' from generate_series(1, ${ROWS}) n");
        fs.writeFileSync("/data/notes.txt", "a note");
      }
      const { rows } = await pool.query("select count(*), md5(string_agg(items::text, '' order by id)) from items");
      const next = await pool.query("select last_value from items_id_seq");
      const note = fs.existsSync("/data/notes.txt") ? fs.readFileSync("/data/notes.txt", "utf8") : null;
      response.end(JSON.stringify([rows, next.rows, note]));
    }).listen(process.env.PORT);`,
});

async function waitUntilProvisioning({ rest }: ServiceProcess, id: string): Promise<void> {
  await waitFor(async () => {
    const { body } = await rest.get(`/v1/apps/${id}`);
    expect(["provisioning", "ready"]).toContain(body["status"]);
  });
}

async function waitUntilReady({ rest }: ServiceProcess, id: string): Promise<string> {
  await waitFor(async () => {
    expect((await rest.get(`/v1/apps/${id}`)).body).toMatchObject({ status: "ready", error: null });
  });
  return String((await rest.get(`/v1/apps/${id}`)).body["url"]);
}

test("a Node server moves with its PostgreSQL database, also if the service is killed while it is imported", async () => {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "export.tar.gz");
  await using origin = await createInstallation();
  const first = await origin.start();
  const { body } = await first.rest.deploy({ files: await filesOf(), name: "shop" });
  const url = await waitUntilReady(first, String(body["app_id"]));
  const { text: content } = await appRequest(`${url}/fill`);
  expect(content).toContain(`"count":"${ROWS}"`);
  await using cli = await createCli({ SVC_URL: first.publicUrl, SVC_TOKEN: first.tokens.api_key });
  expect(await cli.run(["apps", "export", "shop", file])).toMatchObject({ code: 0 });
  const tar = gunzipSync(await readFile(file)).toString("latin1");
  expect(tar).toContain("data/postgres/0-schema.sql");
  expect(tar).not.toMatch(/app_(?!0{20})[0-9a-f]{20}/);
  await expect.poll(() => readdir(path.join(origin.dataDirectory, "app-data-copies"))).toEqual([]);
  await first.end("SIGTERM");
  await using target = await createInstallation();
  let service = await target.start();
  for (const isKilled of [true, false]) {
    const env = { SVC_URL: service.publicUrl, SVC_TOKEN: service.tokens.api_key };
    const { code, stdout, stderr } = await cli.run(["apps", "import", file, "--json"], { env });
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const { app_id: id } = JSON.parse(stdout) as { app_id: string };
    if (isKilled) {
      await waitUntilProvisioning(service, id);
      await service.end("SIGKILL");
      service = await target.start();
    }
    expect((await appRequest(await waitUntilReady(service, id))).text).toBe(content);
    expect((await service.rest.delete(`/v1/apps/${id}`)).status).toBe(200);
  }
  await service.end("SIGTERM");
  expect(await readdir(path.join(target.dataDirectory, "app-data-copies"))).toEqual([]);
});
