import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { VARIABLE_LIMITS } from "../../domain/variables/variable-rules.ts";
import { VariableCipher } from "../../domain/variables/variable-cipher.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();

/** An app without a live deployment, so that no call waits for a restart. */
async function givenApp(status: "failed" | "deleting" = "failed") {
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant, { status });
  return { tenant, id, ...clientOf(tenant, id) };
}

function clientOf({ rest }: Pick<Tenant, "rest">, id: string) {
  const path = `/v1/apps/${id}/variables`;
  const headers = { "content-type": "application/json" };
  return {
    put: (name: string, body: object) => rest.send("PUT", `${path}/${name}`, { body: JSON.stringify(body), headers }),
    remove: (name: string) => rest.delete(`${path}/${name}`),
    list: async () => (await rest.get(path)).body,
  };
}

const APPLIED = { is_applied: true, problem: null };

verifies("variables.change", "200 sets variables, lists them by name, and deletes them", async () => {
  const { put, list, remove } = await givenApp();
  const times = { created_at: expect.any(String), updated_at: expect.any(String) };
  const secret = { name: "API_KEY", value: null, secret: true, build: false, ...times };
  const plain = { name: "REGION", value: "Zürich\n", secret: false, build: true, ...times };
  const set = await put("REGION", { value: "Zürich\n", build: true });
  expect([set.status, set.body]).toEqual([200, { ...plain, ...APPLIED }]);
  expect((await put("API_KEY", { value: "s3cret-value", secret: true })).body).toEqual({ ...secret, ...APPLIED });
  expect(await list()).toEqual({ variables: [secret, plain], ...APPLIED });
  expect((await remove("REGION")).body).toEqual({ status: "deleted", ...APPLIED });
  expect(await list()).toEqual({ variables: [secret], ...APPLIED });
});

test("a new value without flags keeps the flags, so a secret stays a secret", async () => {
  const { put } = await givenApp();
  await put("API_KEY", { value: "one", secret: true, build: true });
  expect((await put("API_KEY", { value: "two" })).body).toMatchObject({ value: null, secret: true, build: true });
  expect((await put("API_KEY", { value: "three", secret: false })).body).toMatchObject({ value: "three", build: true });
});

const LONG = "A".repeat(VARIABLE_LIMITS.nameLength);

test.each([
  ["lower", { value: "" }, "name: must match ^[A-Z][A-Z0-9_]*$"],
  ["_A", { value: "" }, "name: must match"],
  ["1A", { value: "" }, "name: must match"],
  ["A-B", { value: "" }, "name: must match"],
  ["A%0A", { value: "" }, "name: must match"],
  [`${LONG}A`, { value: "" }, "at most 128 characters"],
  ["PATH", { value: "" }, '"PATH" is reserved'],
  ["LD_PRELOAD", { value: "" }, '"LD_" are reserved'],
  ["SERVICE_URL", { value: "" }, '"SERVICE_" are reserved'],
  ["A", {}, "value"],
  ["A", { value: 1 }, "value"],
  ["A", { value: "a\0b" }, "NUL"],
  ["A", { value: "x".repeat(VARIABLE_LIMITS.valueBytes + 1) }, "value: has 32769 bytes, but may have at most 32768"],
  ["A", { value: "ü".repeat(VARIABLE_LIMITS.valueBytes / 2 + 1) }, "value: has 32770 bytes"],
  ["A", { value: "", hidden: true }, "hidden"],
])("400 rejects %s with %j and changes nothing", async (name, body, reason) => {
  const { put, list } = await givenApp();
  const { status, body: response } = await put(name, body);
  expect([status, response["error"]]).toEqual([400, expect.stringContaining(reason)]);
  expect(await list()).toEqual({ variables: [], ...APPLIED });
});

test("413 rejects a value of a megabyte and changes nothing", async () => {
  const { put, list } = await givenApp();
  expect((await put("A", { value: "x".repeat(1_000_000) })).status).toBe(413);
  expect(await list()).toEqual({ variables: [], ...APPLIED });
});

test("the longest name and the longest value are accepted", async () => {
  const { put, list } = await givenApp();
  const value = "x".repeat(VARIABLE_LIMITS.valueBytes);
  expect((await put(LONG, { value })).status).toBe(200);
  expect(await list()).toMatchObject({ variables: [{ name: LONG, value }] });
});

test("400 rejects more variables than an app may have, also in parallel, and more bytes together", async () => {
  const { id, put, list, remove } = await givenApp();
  await service()
    .service.parts.orm.em.fork()
    .execute(
      `insert into app_variables (app_id, name, sealed_value, size_bytes, is_secret, is_for_build, created_at, updated_at)
     select ?, 'V' || n, '', 2, false, false, now(), now() from generate_series(1, ?) n`,
      [id, VARIABLE_LIMITS.count - 2],
    );
  const names = ["W1", "W2", "W3", "W4", "W5"];
  const statuses = (await Promise.all(names.map((name) => put(name, { value: name })))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  const { variables } = (await list()) as unknown as { variables: { name: string }[] };
  expect(variables).toHaveLength(VARIABLE_LIMITS.count);
  const kept = variables.map(({ name }) => name);
  expect((await put("ONE_MORE", { value: "" })).body["error"]).toContain("has 100 variables");
  expect((await put(kept[0]!, { value: "changed" })).status).toBe(200);
  await remove(kept[1]!);
  expect((await put("ONE_MORE", { value: "" })).status).toBe(200);
  const large = await Promise.all(kept.slice(2, 12).map((name) => put(name, { value: "x".repeat(32_000) })));
  expect(large.filter(({ status }) => status === 200)).toHaveLength(8);
  expect(large.find(({ status }) => status === 400)?.body["error"]).toMatch(/would have \d+ bytes together/);
});

test("404 for an app of another organization, for an unknown app and for an unknown variable", async () => {
  const foreign = await givenApp();
  await foreign.put("A", { value: "theirs" });
  const tenant = await service().tenant();
  for (const id of [foreign.id, randomUUID(), "malformed"]) {
    const { put, list, remove } = clientOf(tenant, id);
    const responses = [await put("A", { value: "mine" }), await remove("A")];
    expect(responses.map(({ status, body }) => [status, body])).toEqual([
      [404, { error: "App not found" }],
      [404, { error: "App not found" }],
    ]);
    expect(await list()).toEqual({ error: "App not found" });
  }
  expect(await foreign.list()).toMatchObject({ variables: [{ name: "A", value: "theirs" }] });
  expect((await foreign.remove("B")).body).toEqual({ error: "Variable not found" });
});

test("409 while the app is being deleted", async () => {
  const { put, remove } = await givenApp("deleting");
  const error = { error: "The app is being deleted." };
  expect(await put("A", { value: "1" })).toMatchObject({ status: 409, body: error });
  expect(await remove("A")).toMatchObject({ status: 409, body: error });
});

test("the first change of an organization is applied before the further ones of others", async () => {
  const [one, other] = [await givenApp(), await givenApp()];
  for (const name of ["A", "B", "C"]) await one.put(name, { value: name });
  await other.put("A", { value: "A" });
  const { boss } = service().service.parts;
  const start = async () => (await boss.fetch<{ appId: string }>("variables"))[0]?.data.appId;
  const started: string[] = [];
  for (let appId = await start(); appId !== undefined; appId = await start()) started.push(appId);
  expect(started.filter((id) => id === one.id || id === other.id)).toEqual([one.id, other.id, one.id, one.id]);
});

test("429 after 120 changes of variables and rollbacks in a minute, whatever their result", async () => {
  const { tenant, id, put, remove, list } = await givenApp();
  const rollBack = () => tenant.rest.post(`/v1/apps/${id}/rollback`, { number: 9 });
  expect([(await remove("A")).status, (await rollBack()).status, (await put("A", {})).status]).toEqual([404, 404, 400]);
  const changes = Array.from({ length: 117 }, (_, index) => put("A", { value: String(index) }));
  expect(new Set((await Promise.all(changes)).map(({ status }) => status))).toEqual(new Set([200]));
  for (const rejected of [await put("A", { value: "one more" }), await remove("A"), await rollBack()]) {
    expect(rejected).toMatchObject({
      status: 429,
      body: { error: expect.stringContaining("120 times in 60 seconds") },
    });
    expect(rejected.headers.get("retry-after")).toMatch(/^[1-9]\d?$/);
    expect(rejected.headers.get("ratelimit")).toMatch(/^"restarts";r=0;t=\d+$/);
  }
  expect(await list()).toMatchObject({ variables: [{ name: "A", value: expect.stringMatching(/^\d+$/) }] });
  expect((await (await givenApp()).put("A", { value: "of another organization" })).status).toBe(200);
});

test("the database and the audit log contain no value", async () => {
  const { tenant, id, put } = await givenApp();
  await put("API_KEY", { value: "never-in-plain-text", secret: true });
  await put("PLAIN", { value: "never-in-plain-text" });
  const em = service().service.parts.orm.em.fork();
  const events = await em.execute("select * from audit_events where org_id = ? order by variable_name", [
    tenant.org_id,
  ]);
  const set = { action: "variables.set", target: id, target_kind: "app", outcome: "done" };
  expect(events.map((event: object) => ({ ...event }))).toMatchObject([
    { ...set, variable_name: "API_KEY" },
    { ...set, variable_name: "PLAIN" },
  ]);
  const rows = await em.execute("select * from app_variables where app_id = ?", [id]);
  expect(rows).toHaveLength(2);
  for (const text of [JSON.stringify(events), JSON.stringify(rows)]) {
    expect(text).not.toContain("never-in-plain-text");
    expect(text).not.toContain(btoa("never-in-plain-text"));
  }
});

test("a value that was stored with another TOKEN_SECRET is null, and can be set again", async () => {
  const { id, put, list } = await givenApp();
  await put("A", { value: "one" });
  const other = new VariableCipher("another secret").seal("two", { appId: id, name: "A", isSecret: false });
  const em = service().service.parts.orm.em.fork();
  await em.execute("update app_variables set sealed_value = ? where app_id = ?", [other, id]);
  expect(await list()).toMatchObject({ variables: [{ name: "A", value: null }] });
  await expect(service().service.parts.deploymentDeps.variables.read(id)).rejects.toThrow('"A" cannot be decrypted');
  await put("A", { value: "three" });
  expect(await list()).toMatchObject({ variables: [{ name: "A", value: "three" }] });
});
