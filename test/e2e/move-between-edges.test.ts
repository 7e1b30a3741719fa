import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import type { RestClient } from "../support/clients/rest-client.ts";
import { appRequest } from "../support/edge/app-request.ts";
import {
  openSeparateProcesses,
  type RoleProcess,
  type SeparateProcesses,
} from "../support/service/separate-processes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** A Worker with a guestbook in D1, KV and R2, which returns all that is in them. */
const GUESTBOOK = {
  "package.json": JSON.stringify({ name: "guestbook", private: true }),
  "wrangler.jsonc": JSON.stringify({
    name: "guestbook",
    main: "src/index.js",
    compatibility_date: "2026-07-01",
    d1_databases: [{ binding: "DB", database_name: "guestbook" }],
    kv_namespaces: [{ binding: "KV", id: "guests" }],
    r2_buckets: [{ binding: "BUCKET", bucket_name: "photos" }],
  }),
  "migrations/0001_guests.sql":
    "create table guests (id integer primary key autoincrement, name text, number integer);",
  "src/index.js": `export default {
    async fetch(request, { DB, KV, BUCKET }) {
      const name = new URL(request.url).pathname.slice(1);
      if (request.method === "POST") {
        await DB.prepare("insert into guests (name, number) values (?, 9007199254740993)").bind(name).run();
        await KV.put("guest:" + name, name, { metadata: { name } });
        await BUCKET.put("photos/" + name, name.repeat(100_000), { httpMetadata: { contentType: "image/png" } });
      }
      const guests = await DB.prepare("select id, name, cast(number as text) from guests order by id").raw();
      const applied = await DB.prepare("select name from d1_migrations").raw();
      const [keys, photos] = [await KV.list(), await BUCKET.list({ include: ["httpMetadata"] })];
      const objects = photos.objects.map(({ key, size, etag, httpMetadata }) => ({ key, size, etag, httpMetadata }));
      return Response.json({ guests, applied, keys: keys.keys, objects });
    },
  };`,
};
/** A Node server that keeps its notes in a SQLite file in `/data`. */
const NOTES = {
  "package.json": JSON.stringify({ name: "notes", private: true, scripts: { start: "node server.js" } }),
  "server.js": `const { DatabaseSync } = require("node:sqlite");
const database = new DatabaseSync(process.env.SQLITE_PATH);
database.exec("CREATE TABLE IF NOT EXISTS notes(text)");
require("node:http").createServer((request, response) => {
  if (request.method === "POST") database.prepare("INSERT INTO notes VALUES (?)").run(request.url);
  response.end(JSON.stringify(database.prepare("SELECT text FROM notes").all()));
}).listen(process.env.PORT);`,
};
const REPOSITORIES = ["acme/guestbook", "acme/notes"];

interface Service {
  rest: RestClient;
  api: RoleProcess;
  worker: RoleProcess;
  edge: RoleProcess;
  key: string;
}

async function start(processes: SeparateProcesses, edges: number): Promise<Service> {
  const edge = await processes.start("edge-1");
  if (edges > 1) await processes.start("edge-2");
  const [worker, api] = [await processes.start("worker-1"), await processes.start("api-1")];
  return { rest: await processes.client(api), api, worker, edge, key: (await processes.tokens()).api_key };
}

async function urlWhenReady(rest: RestClient, id: string): Promise<string> {
  const read = async () => (await rest.get(`/v1/apps/${id}`)).body;
  await expect.poll(async () => (await read())["status"], { timeout: 120_000 }).toMatch(/ready|failed/);
  expect(await read()).toMatchObject({ status: "ready", error: null });
  return String((await read())["url"]);
}

async function exportApp({ api, key }: Service, id: string): Promise<Buffer<ArrayBuffer>> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${api.publicUrl}/v1/apps/${id}/export`, { method: "POST", headers });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function importApp({ rest }: Service, file: Buffer<ArrayBuffer>): Promise<string> {
  const headers = { "content-type": "application/gzip" };
  const { status, body } = await rest.send("POST", "/v1/apps/import", { body: file, headers });
  expect([status, body["warnings"]]).toEqual([201, []]);
  return String(body["app_id"]);
}

async function untilRestoring({ rest }: Service, id: string): Promise<void> {
  const status = async () => (await rest.get(`/v1/apps/${id}`)).body["status"];
  await expect.poll(status, { timeout: 60_000, interval: 20 }).toMatch(/provisioning|migrating|publishing|ready/);
}

verifies(
  ["apps.export", "apps.import", hazard(41)],
  "a Worker and a Node server move from one edge to several and back, also if a process is killed during the restoration",
  async () => {
    await using folder = await temporaryFolder();
    await (await Repository.create(folder.path, "acme/guestbook")).commitFiles(GUESTBOOK);
    await (await Repository.create(folder.path, "acme/notes")).commitFiles(NOTES);
    const settings = { GIT_BASE_URL: pathToFileURL(folder.path).href };
    await using alone = await openSeparateProcesses(settings);
    await using several = await openSeparateProcesses(settings, { edges: 2 });
    const [first, second] = [await start(alone, 1), await start(several, 2)];
    for (const repo of REPOSITORIES) {
      const { body } = await first.rest.deploy({ repo });
      const id = String(body["app_id"]);
      const url = await urlWhenReady(first.rest, id);
      for (const name of ["ada", "grace"]) await appRequest(`${url}/${name}`, { method: "POST" });
      const before = await appRequest(url);
      const moved = await importApp(second, await exportApp(first, id));
      await untilRestoring(second, moved);
      if (repo === "acme/guestbook") {
        await second.edge.end("SIGKILL");
        await several.start("edge-1");
      } else {
        await second.worker.end("SIGKILL");
        await several.start("worker-1");
      }
      const movedUrl = await urlWhenReady(second.rest, moved);
      // The other edge may notice the app a second later.
      await expect.poll(() => appRequest(movedUrl)).toEqual(before);
      const written = await appRequest(`${movedUrl}/edsger`, { method: "POST" });
      const returned = await importApp(first, await exportApp(second, moved));
      expect(await appRequest(await urlWhenReady(first.rest, returned))).toEqual(written);
    }
  },
  { timeout: 300_000 },
);
