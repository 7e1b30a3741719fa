import { expect, test } from "vitest";
import { appToken } from "../../../domain/apps/app-token.ts";
import { App } from "../../../domain/apps/app.entity.ts";
import { type AppCall, AppCallFailed, type ProcedureResult } from "../../../domain/ports/app-caller.ts";
import { callProcedure } from "../../../domain/procedures/call-procedure.ts";
import { ProcedureIndex } from "../../../domain/procedures/procedure-index.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { Scope } from "../../../domain/shared/scopes.ts";
import { discoveredProcedure, givenProcedures } from "../../support/edge/live-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const SECRET = "x".repeat(32);
const SCHEMA = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };

/** An app with a query and a mutation, whose calls have the result that a test sets. */
async function givenApp(names: string[] = [], appName = "demo") {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant, { name: appName });
  await service().service.parts.orm.em.fork().nativeUpdate(App, { id: app.id }, { tokenVersion: 4 });
  const procedures = [
    discoveredProcedure("get", "query", { inputSchema: SCHEMA }),
    discoveredProcedure("set", "mutation"),
  ];
  await givenProcedures(service(), app, [...procedures, ...names.map((name) => discoveredProcedure(name))]);
  const calls: AppCall[] = [];
  const state = { respond: async (): Promise<ProcedureResult> => ({ ok: true, output: [1] }) };
  const deps = {
    tokenSecret: SECRET,
    procedureIndex: new ProcedureIndex(service().service.parts.db),
    appCaller: {
      call: async (call: AppCall) => {
        calls.push(call);
        return state.respond();
      },
    },
  };
  const { signal } = new AbortController();
  const call = (procedure: string, { slug = app.slug, scope = "everything" }: { slug?: string; scope?: Scope } = {}) =>
    callProcedure(deps, { orgId: tenant.org_id, scope } as Caller, { app: slug, procedure, input: { id: 1 } }, signal);
  return { app, calls, state, signal, call };
}

test("a call has the newest token of its app, and returns the response of the app", async () => {
  const { app, calls, signal, call } = await givenApp();
  expect(await call("get")).toEqual({ ok: true, output: [1] });
  const { invocation } = discoveredProcedure("get");
  const token = appToken(SECRET, { id: app.id, tokenVersion: 4 });
  const procedure = { name: "get", kind: "query", invocation };
  expect(calls).toEqual([
    { slug: app.slug, deploymentId: expect.any(String), appToken: token, ...procedure, input: { id: 1 }, signal },
  ]);
});

test("an error response of the app is a result, and so is an app that does not respond", async () => {
  const { state, call } = await givenApp();
  const issues = JSON.stringify([{ code: "invalid_type", path: ["id"], message: "Expected a number" }]);
  state.respond = async () => ({ ok: false, status: 400, message: issues });
  expect(await call("get")).toEqual({ ok: false, status: 400, message: expect.stringContaining("id") });
  expect(await call("get")).not.toMatchObject({ message: issues });
  state.respond = () => Promise.reject(new AppCallFailed("The app closed the connection."));
  expect(await call("get")).toEqual({ ok: false, status: 502, message: "The app closed the connection." });
  state.respond = () => Promise.reject(new Error("internal"));
  await expect(call("get")).rejects.toThrow("internal");
});

test("a query requires the scope to read, and a mutation the scope for everything", async () => {
  const { calls, call } = await givenApp();
  expect(await call("get", { scope: "read" })).toMatchObject({ ok: true });
  await expect(call("set", { scope: "read" })).rejects.toMatchObject({ code: "forbidden" });
  expect(await call("set")).toMatchObject({ ok: true });
  expect(calls.map(({ name }) => name)).toEqual(["get", "set"]);
});

test("an unknown procedure of an app is an error with the names of up to 20 procedures", async () => {
  const { call } = await givenApp(Array.from({ length: 30 }, (_, n) => `more${n}`));
  const error = (await call("absent").catch((reason: unknown) => reason)) as Error;
  expect(error).toMatchObject({ code: "not_found" });
  expect(error.message.match(/"\w+"/g)?.length).toBe(20);
  expect(error.message).toContain('"get", "more0"');
});

test("the app of another organization looks like one that does not exist", async () => {
  // Neither name is similar to an app of the organization, which the error would suggest.
  const [{ call, calls }, foreign] = [await givenApp(), await givenApp([], "ledger")];
  const errors = [];
  for (const slug of [foreign.app.slug, "absent-k7m2xq"])
    errors.push(await call("get", { slug }).catch((reason: unknown) => reason));
  expect(errors[0]).toEqual(errors[1]);
  expect(errors[0]).toMatchObject({ code: "not_found" });
  expect((errors[0] as Error).message).not.toContain("get");
  expect(calls).toEqual([]);
});
