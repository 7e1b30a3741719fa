import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, test } from "node:test";
import app from "../src/index.ts";

const MIGRATION = readFileSync(new URL("../migrations/0001_items.sql", import.meta.url), "utf8");
const TRUSTED = { "x-service-auth": "app", "content-type": "application/json" };

/** SQLite in memory, with the part of the API of D1 that the app uses. */
function openDatabase() {
  const database = new DatabaseSync(":memory:");
  database.exec(MIGRATION);
  const statement = (sql: string, values: (string | number)[] = []) => ({
    bind: (...bound: (string | number)[]) => statement(sql, bound),
    all: async () => ({ results: database.prepare(sql).all(...values) }),
    first: async () => database.prepare(sql).get(...values) ?? null,
    run: async () => ({ meta: { changes: Number(database.prepare(sql).run(...values).changes) } }),
  });
  return { prepare: statement };
}

let env: { DB: ReturnType<typeof openDatabase> };

beforeEach(() => {
  env = { DB: openDatabase() };
});

const add = (body: unknown, headers: Record<string, string> = TRUSTED) =>
  app.request("/items", { method: "POST", headers, body: JSON.stringify(body) }, env);

test("an item is added, read and deleted", async () => {
  const added = await add({ name: " Tea " });
  assert.equal(added.status, 201);
  const { id, name } = (await added.json()) as { id: number; name: string };
  assert.equal(name, "Tea");
  assert.equal((await app.request(`/items/${id}`, {}, env)).status, 200);
  assert.equal((await app.request(`/items/${id}`, { method: "DELETE", headers: TRUSTED }, env)).status, 204);
  assert.deepEqual(await (await app.request("/items", {}, env)).json(), []);
});

test("an item without a name is rejected", async () => {
  for (const body of [{}, { name: " " }, { name: "x".repeat(201) }, null]) assert.equal((await add(body)).status, 400);
});

test("a change requires the app token", async () => {
  assert.equal((await add({ name: "Tea" }, {})).status, 401);
});
