import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { App } from "../../domain/apps/app.entity.ts";
import { sqlDatabaseId } from "../../domain/apps/app-resources.ts";
import { AuditEvent } from "../../domain/audit/audit-event.entity.ts";
import { sendRequest } from "../support/edge/test-platform.ts";
import { provision } from "../support/edge/platform-resources.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();

const SCRIPT = `export default {
  async fetch(request, { DB, FILES }) {
    if (request.method !== "POST") return new Response("hello");
    for (const key of ["a", "b/1", "b/2"]) await FILES.put(key, "text of " + key);
    await DB.exec("create table notes (id integer primary key, text text)");
    await DB.prepare("insert into notes (text) values ('one'), ('two')").run();
    return new Response("stored");
  },
};`;
const BINDINGS = [
  { type: "d1", name: "DB", id: "declared" },
  { type: "r2_bucket", name: "FILES", bucket_name: "files" },
];

let tenant: Tenant;
let app: App;

beforeAll(async () => {
  tenant = await service().tenant();
  app = await service().givenApp(tenant, { name: "notes" });
  const { deploymentDeps } = service().service.parts;
  await provision(deploymentDeps, app, SCRIPT, { bindings: BINDINGS });
  const { host, port } = new URL(deploymentDeps.edge.urlOf(app.slug));
  await sendRequest(Number(port), host, "/", { method: "POST" });
});

const query = (body: object, { rest }: Pick<Tenant, "rest"> = tenant, id = app.id) =>
  rest.post(`/v1/apps/${id}/storage/query`, body);

verifies("storage.read", "200 returns what an app may store, and the tables of its database", async () => {
  const { status, body } = await tenant.rest.get(`/v1/apps/${app.id}/storage`);
  expect([status, body]).toEqual([
    200,
    {
      limit_bytes: expect.any(Number),
      used: null,
      database: expect.objectContaining({ kind: "sqlite", name: "main", names: ["main"] }),
      database_problem: null,
      stores: [{ kind: "objects", name: "FILES" }],
    },
  ]);
  expect(body["database"]).toMatchObject({ tables: [{ name: "notes", row_count: 2, has_more_rows: false }] });
});

test("200 returns an app without a database", async () => {
  const { id } = await service().givenApp(tenant, { name: "empty" });
  const { status, body } = await tenant.rest.get(`/v1/apps/${id}/storage`);
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({ used: null, database: null, database_problem: null, stores: [] }),
  ]);
  const refused = await query({ sql: "select 1" }, tenant, id);
  expect([refused.status, refused.body["error"]]).toEqual([
    409,
    "The app has no SQL database, or has not used it yet.",
  ]);
});

verifies("storage.query", "200 returns the rows of a statement, and the audit log has the call", async () => {
  const { status, body } = await query({ sql: "select id, text from notes order by id", limit: 1 });
  expect([status, body]).toEqual([
    200,
    {
      columns: [{ name: "id" }, { name: "text" }],
      rows: [[1, "one"]],
      is_truncated: true,
      duration_ms: expect.any(Number),
    },
  ]);
  const { orm } = service().service.parts;
  const events = await orm.em.fork().find(AuditEvent, { action: "storage.query", target: app.id });
  expect(events).toMatchObject([{ target: app.id, targetKind: "app", outcome: "done", userId: tenant.user_id }]);
  expect(JSON.stringify(events)).not.toContain("select id");
});

const bucket = (path = "entries", parameters = "", store = "FILES") =>
  `/v1/apps/${app.id}/storage/${path}?kind=objects&store=${store}${parameters}`;

verifies("storage.entries", "200 lists the objects of a bucket in pages, and returns the value of one", async () => {
  const first = await tenant.rest.get(bucket("entries", "&prefix=b/&limit=1"));
  const entry = { key: "b/1", bytes: 11, expires_at: null, uploaded_at: expect.any(String), content_type: null };
  expect([first.status, first.body]).toEqual([200, { entries: [entry], next_cursor: expect.any(String) }]);
  const second = await tenant.rest.get(
    bucket("entries", `&prefix=b/&limit=1&cursor=${String(first.body["next_cursor"])}`),
  );
  expect(second.body).toMatchObject({ entries: [{ key: "b/2" }], next_cursor: null });
  const value = await tenant.rest.get(bucket("entry", "&key=b/2"));
  expect([value.status, value.body]).toEqual([200, { key: "b/2", value: "text of b/2" }]);
});

test.each([
  ["404", () => bucket("entries", "", "OTHER"), 'store: the app has no such bucket. It has "FILES".'],
  ["404", () => bucket("entry", "&key=missing"), "key: the bucket has no such key."],
  ["400", () => bucket("entries", "&cursor=not-ours!"), "cursor: invalid cursor"],
  ["400", () => bucket("entries", "&limit=201"), "limit"],
  ["400", () => bucket("entry"), "key"],
])("%s is the response for an unknown or invalid entry: %s", async (status, url, reason) => {
  const response = await tenant.rest.get(url());
  expect([response.status, response.body["error"]]).toEqual([Number(status), expect.stringContaining(reason)]);
});

test("the entries of an app are not found by another organization, and not read with the scope read", async () => {
  const other = await service().tenant();
  const issued = await tenant.rest.post("/v1/tokens", { kind: "api_key", name: "viewer", scope: "read" });
  const reader = tenant.rest.as(String(issued.body["token"]));
  for (const url of [bucket(), bucket("entry", "&key=a")]) {
    const foreign = await other.rest.get(url);
    expect([foreign.status, foreign.body["error"]]).toEqual([404, "App not found"]);
    const refused = await reader.get(url);
    expect([refused.status, refused.body["error"]]).toEqual([403, expect.stringContaining('Scope "deploy" required')]);
  }
});

test.each([
  [{ sql: "delete from notes" }, "sql: only statements that read are permitted"],
  [{ sql: "select 1; select 2" }, "sql: has more than one statement"],
  [{ sql: "select missing from notes" }, "sql: SQLite: no such column: missing"],
  [{ sql: "" }, "sql"],
  [{ sql: "select 1", limit: 501 }, "limit"],
  [{ sql: "select 1", other: true }, "other"],
])("400 rejects %j", async (body, reason) => {
  const { status, body: response } = await query(body);
  expect([status, response["error"]]).toEqual([400, expect.stringContaining(reason)]);
});

test("404 is the response for an unknown database, an unknown app and one of another organization", async () => {
  const unknown = await query({ sql: "select 1", database: "other.db" });
  expect([unknown.status, unknown.body["error"]]).toEqual([
    404,
    'database: the app has no such database. It has "main".',
  ]);
  const other = await service().tenant();
  for (const id of [app.id, randomUUID()]) {
    const refused = await query({ sql: "select 1" }, other, id);
    expect([refused.status, refused.body["error"]]).toEqual([404, "App not found"]);
    const described = await other.rest.get(`/v1/apps/${id}/storage`);
    expect([described.status, described.body["error"]]).toEqual([404, "App not found"]);
  }
});

test("an app whose database is damaged has the rest of its storage, and the reason", async () => {
  const damaged = await service().givenApp(tenant, { name: "damaged" });
  await provision(service().service.parts.deploymentDeps, damaged);
  const folder = path.join(service().dataDirectory, "edge/databases", sqlDatabaseId(damaged.id), "d1");
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "0.sqlite"), "not a database".repeat(1000));
  const reason = "The database is damaged, or is not a SQLite database.";
  const { status, body } = await tenant.rest.get(`/v1/apps/${damaged.id}/storage`);
  expect([status, body]).toEqual([200, expect.objectContaining({ database: null, database_problem: reason })]);
  const refused = await query({ sql: "select * from sqlite_schema" }, tenant, damaged.id);
  expect([refused.status, refused.body["error"]]).toEqual([409, reason]);
});

test("a token with the scope read describes the storage and does not query it", async () => {
  const issued = await tenant.rest.post("/v1/tokens", { kind: "api_key", name: "reader", scope: "read" });
  const rest = tenant.rest.as(String(issued.body["token"]));
  expect((await rest.get(`/v1/apps/${app.id}/storage`)).status).toBe(200);
  const refused = await query({ sql: "select 1" }, { rest });
  expect([refused.status, refused.body["error"]]).toEqual([403, expect.stringContaining('Scope "deploy" required')]);
});

test("429 limits how often an organization reads databases, and other organizations are not limited", async () => {
  const busy = await service().tenant();
  const { id } = await service().givenApp(busy, { name: "busy" });
  const statuses = [];
  for (let n = 0; n < 61; n++) statuses.push((await busy.rest.get(`/v1/apps/${id}/storage`)).status);
  expect(statuses).toEqual([...Array.from({ length: 60 }, () => 200), 429]);
  const refused = await query({ sql: "select 1" }, busy, id);
  expect([refused.status, refused.body["error"]]).toEqual([429, expect.stringContaining("60 times in 60 seconds")]);
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  expect((await query({ sql: "select 1" })).status).toBe(200);
});
