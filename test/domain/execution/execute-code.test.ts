import { expect, test } from "vitest";
import { executeCode, type ExecuteDeps, type Program } from "../../../domain/execution/execute-code.ts";
import type { AppCall, ProcedureResult } from "../../../domain/ports/app-caller.ts";
import type { CallHandler, RunRequest, RunResult } from "../../../domain/ports/code-runtime.ts";
import { ProcedureIndex } from "../../../domain/procedures/procedure-index.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { readActivity } from "../../../domain/usage/get-usage.ts";
import { discoveredProcedure, givenProcedures } from "../../support/edge/live-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

const RESULT: RunResult = {
  stdout: "out",
  stderr: "err",
  exitCode: 3,
  durationMs: 12,
  truncated: false,
  timedOut: false,
};
const TOOLS = [{ name: "list_apps", description: "Lists.", inputSchema: {}, outputSchema: {} }];

/** An organization with an app, and a runtime whose programs do what a test says. */
async function givenProgram() {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  await givenProcedures(service(), app, [discoveredProcedure("orders.list"), discoveredProcedure("ping")]);
  const { db, usageCounter } = service().service.parts.service;
  const caller = { orgId: tenant.org_id, scope: "everything" } as Caller;
  const appCalls: AppCall[] = [];
  const toolCalls: unknown[][] = [];
  const runs: RunRequest[] = [];
  const state = { result: RESULT, response: { ok: true, output: 7 } as ProcedureResult };
  let program = async (_call: CallHandler): Promise<unknown> => undefined;
  const signal = new AbortController().signal;
  const deps: ExecuteDeps = {
    db,
    tokenSecret: "x".repeat(32),
    procedureIndex: new ProcedureIndex(db),
    usageCounter,
    toolDeclarations: TOOLS,
    appCaller: {
      call: async (call) => {
        appCalls.push(call);
        return state.response;
      },
    },
    codeRuntime: {
      run: async (request) => {
        runs.push(request);
        await program(request.handleCall);
        return state.result;
      },
    },
  };
  const callTool: Program["callTool"] = async (...call) => {
    toolCalls.push(call);
    return "result";
  };
  const execute = () => executeCode(deps, caller, { code: "code", timeoutMs: 1000, callTool }, signal);
  /** Runs a program that makes one call. */
  const call = async (name: string, input?: unknown) => {
    let returned: unknown;
    program = async (handle) => (returned = await handle(name, input, signal));
    await execute();
    return returned;
  };
  return { tenant, app, db, usageCounter, state, runs, appCalls, toolCalls, signal, execute, call };
}

test("the result of a program has its outputs, and says whether it was truncated or timed out", async () => {
  const { state, execute } = await givenProgram();
  const shown = { stdout: "out", stderr: "err", exit_code: 3, duration_ms: 12 };
  expect(await execute()).toEqual({ ...shown, truncated: false, timed_out: false });
  state.result = { ...RESULT, truncated: true, timedOut: true };
  expect(await execute()).toEqual({ ...shown, truncated: true, timed_out: true });
  state.result = { ...RESULT, stdout: "x".repeat(30_000) };
  expect(await execute()).toMatchObject({ truncated: true, stderr: "err" });
});

test("a program gets the declarations of the tools and of the newest procedures, and is counted", async () => {
  const { tenant, app, db, usageCounter, runs, execute } = await givenProgram();
  await execute();
  await execute();
  await givenProcedures(service(), await service().givenApp(tenant), [discoveredProcedure("added")]);
  await execute();
  const [first, second, third] = runs.map(({ declarations }) => declarations);
  for (const text of ["list_apps(", app.slug, "ping("]) expect(first).toContain(text);
  expect([second === first, third?.includes("added(")]).toEqual([true, true]);
  expect(runs[0]).toMatchObject({ code: "code", timeoutMs: 1000 });
  await usageCounter.flush(db);
  expect((await readActivity(db, tenant.org_id)).programs).toBe(3);
});

test("a program calls the procedures of apps, whose names can have several parts", async () => {
  const { app, state, appCalls, call } = await givenProgram();
  expect(await call(`apps.${app.slug}.orders.list`, { id: 7 })).toBe(7);
  for (const input of [undefined, null, "text", [1]]) await call(`apps.${app.slug}.ping`, input);
  expect(appCalls.map(({ slug, name, input }) => [slug, name, input])).toEqual([
    [app.slug, "orders.list", { id: 7 }],
    [app.slug, "ping", undefined],
    [app.slug, "ping", null],
    [app.slug, "ping", "text"],
    [app.slug, "ping", [1]],
  ]);
  state.response = { ok: true, output: undefined };
  expect(await call(`apps.${app.slug}.ping`)).toBeNull();
  state.response = { ok: false, status: 500, message: "broken" };
  await expect(call(`apps.${app.slug}.ping`)).rejects.toMatchObject({ code: "app_error", message: "broken" });
  await expect(call(`apps.${app.slug}.absent`)).rejects.toMatchObject({ code: "not_found" });
});

test("a program calls tools, and gets the declarations that it requests", async () => {
  const { app, signal, toolCalls, call } = await givenProgram();
  expect(await call("tools.list_apps", { limit: 1 })).toBe("result");
  for (const input of [undefined, null]) await call("tools.list_apps", input);
  expect(toolCalls).toEqual([
    ["list_apps", { limit: 1 }, signal],
    ["list_apps", {}, signal],
    ["list_apps", {}, signal],
  ]);
  expect(await call("types", `${app.slug}.ping`)).toContain("ping(");
  expect(await call("types")).toContain("list_apps(");
});

test("any other call is invalid, and reaches neither an app nor a tool", async () => {
  const { app, appCalls, toolCalls, call } = await givenProgram();
  for (const name of ["", "apps", `apps.${app.slug}`, "tools.list_apps.more", `files.${app.slug}.ping`, "list_apps"])
    await expect(call(name)).rejects.toMatchObject({ code: "invalid" });
  expect([appCalls, toolCalls]).toEqual([[], []]);
});
