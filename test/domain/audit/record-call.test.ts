import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { listEvents, type ListEventsRequest } from "../../../domain/audit/list-events.ts";
import { type CallOutcome, prepareCallRecord, runAudited } from "../../../domain/audit/record-call.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { nextMillisecond } from "../../support/next-millisecond.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const deps = () => ({ em: em(), db: service().service.parts.db });

function callerOf({ org_id: orgId, user_id: userId }: Tenant): Caller {
  return { orgId, userId, role: "owner", scope: "everything", credential: { kind: "api_key", id: "credential" } };
}

const list = async (tenant: Tenant, request: ListEventsRequest = {}) =>
  (await listEvents(deps(), callerOf(tenant), request)).events;

test("a call is recorded when it succeeded or was refused, and not when its input was invalid or it failed", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const reported: unknown[] = [];
  const reportInternalError = (error: unknown, what: string) => void reported.push([error, what]);
  const record = async (input: unknown, outcome: CallOutcome) => {
    const call = { caller: callerOf(tenant), action: `calls.${randomUUID()}`, address: "192.0.2.1", input };
    const finish = await prepareCallRecord({ ...deps(), reportInternalError }, call);
    await finish(outcome);
    const [event] = await list(tenant, { action: call.action });
    return event === undefined ? null : [event.outcome, event.target, event.target_name];
  };
  const refused = { error: new ServiceError("forbidden", "no") };
  expect(await record({ id: app.id }, { output: null })).toEqual(["done", app.id, app.slug]);
  expect(await record({ app_id: app.id }, refused)).toEqual(["refused", app.id, app.slug]);
  expect(await record({ id: "text" }, { output: { id: app.id } })).toEqual(["done", app.id, app.slug]);
  expect(await record(null, { output: "text" })).toEqual(["done", null, null]);
  expect(await record(undefined, refused)).toEqual(["refused", null, null]);
  for (const error of [new ServiceError("invalid", "x"), new ServiceError("rate_limited", "x"), new Error("x")])
    expect(await record({ id: app.id }, { error })).toBeNull();
  expect(reported).toEqual([]);
});

test("the stored name of a target is that before a call which deletes it, and that after a call which creates it", async () => {
  const tenant = await service().tenant();
  const [deleted, created] = [await service().givenApp(tenant), await service().givenApp(tenant)];
  const run = (input: unknown, action: () => Promise<unknown>) => {
    const call = { caller: callerOf(tenant), action: "apps.change", address: null, input };
    return runAudited({ ...deps(), reportInternalError: () => undefined }, call, action);
  };
  await run({ id: deleted.id }, () => em().execute("delete from apps where id = ?", [deleted.id]));
  await nextMillisecond();
  expect(await run({}, async () => ({ app_id: created.id }))).toEqual({ app_id: created.id });
  const stored = await em().execute<object[]>(
    "select target, target_kind as kind, target_name as name from audit_events where org_id = ? order by created_at",
    [tenant.org_id],
  );
  expect(stored).toEqual([
    { target: deleted.id, kind: "app", name: deleted.slug },
    { target: created.id, kind: "app", name: created.slug },
  ]);
});

test("a call is recorded without names when the names could not be read before it", async () => {
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant);
  const reported: string[] = [];
  const reportInternalError = (_error: unknown, what: string) => void reported.push(what);
  const call = { caller: callerOf(tenant), action: "apps.delete", address: null, input: { id } };
  await em().execute("alter table apps rename to unavailable");
  const record = await prepareCallRecord({ ...deps(), reportInternalError }, call);
  await em().execute("alter table unavailable rename to apps");
  expect(reported).toEqual(["cannot write the audit log"]);
  await record({ output: null });
  const stored = await em().execute<object[]>("select target_name as name from audit_events where target = ?", [id]);
  expect(stored).toEqual([{ name: null }]);
});

test("the name of a variable is recorded for calls that change variables, if a variable can have it", async () => {
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant, { status: "failed" });
  const record = async (action: string, fields: object | null) => {
    const input = fields === null ? null : { id, ...fields };
    const call = { caller: callerOf(tenant), action, address: null, input };
    await nextMillisecond();
    await runAudited({ ...deps(), reportInternalError: () => undefined }, call, async () => null);
    return (await list(tenant))[0]?.variable_name;
  };
  const longest = "A".repeat(128);
  for (const name of ["A", "API_KEY_2", longest]) expect(await record("variables.set", { name })).toBe(name);
  expect(await record("variables.delete", { name: "A" })).toBe("A");
  for (const name of [["A"], `${longest}A`, "a", "A b", "xA", "A\n", "_A", 7, undefined])
    expect([name, await record("variables.set", { name })]).toEqual([name, null]);
  expect(await record("variables.set", null)).toBeNull();
  for (const action of ["tokens.issue", "apps.variables.set"]) expect(await record(action, { name: "A" })).toBeNull();
});

test("a call whose event cannot be recorded still succeeds, and the failure is reported", async () => {
  const tenant = await service().tenant();
  const reported: string[] = [];
  const failing = {
    ...deps(),
    reportInternalError: (error: unknown, what: string) => void reported.push(`${what} ${String(error)}`),
  };
  const call = { caller: callerOf(tenant), action: "apps.delete", address: null, input: { id: randomUUID() } };
  expect(await runAudited(failing, call, async () => "output")).toBe("output");
  await expect(runAudited(failing, call, () => Promise.reject(new ServiceError("conflict", "no")))).rejects.toThrow(
    "no",
  );
  expect((await list(tenant)).map(({ outcome }) => outcome).toSorted()).toEqual(["done", "refused"]);
  for (const table of ["audit_events", "apps"]) {
    await em().execute(`alter table ${table} rename to unavailable`);
    try {
      expect(await runAudited(failing, call, async () => "output")).toBe("output");
    } finally {
      await em().execute(`alter table unavailable rename to ${table}`);
    }
    expect(reported.splice(0)).toEqual([expect.stringMatching(`cannot write the audit log.*${table}`)]);
  }
});
