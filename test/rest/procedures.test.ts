import { beforeAll, expect, test } from "vitest";
import type { App } from "../../domain/apps/app.entity.ts";
import type { Invocation } from "../../domain/ports/procedure-discovery.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { discoveredProcedure, givenLiveApp, givenProcedures } from "../support/edge/live-app.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness({ worker: true });

const SCRIPT = `export default { async fetch(request) {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/broken") return Response.json({ error: "The shop is closed" }, { status: 409 });
  return Response.json({ method: request.method, title: searchParams.get("title") });
} };`;

const INPUT = {
  type: "object",
  properties: { title: { type: "string", examples: ["Buy milk"] } },
  required: ["title"],
};

let tenant: Tenant;
let app: App;

beforeAll(async () => {
  tenant = await service().tenant();
  const invocation: Invocation = {
    via: "openapi",
    method: "GET",
    path: "/find",
    parameters: [{ name: "title", in: "query", property: "title", explode: true }],
    body: null,
  };
  const find = discoveredProcedure("tasks.find", "query", {
    description: "Finds tasks",
    inputSchema: INPUT,
    outputSchema: { type: "object" },
    invocation,
  });
  const procedures = [find, discoveredProcedure("broken"), discoveredProcedure("change", "mutation")];
  app = await givenLiveApp(service(), tenant, { script: SCRIPT, procedures });
});

const path = (suffix = "", id = app.id) => `/v1/apps/${id}/procedures${suffix}`;

verifies(
  "procedures.list",
  "the procedures of an app are listed by name, with schemas, an example and the tool",
  async () => {
    const { status, body } = await tenant.rest.get(path());
    expect([status, body["next_cursor"]]).toEqual([200, null]);
    const procedures = body["procedures"] as Record<string, unknown>[];
    expect(procedures.map(({ name, kind }) => `${String(kind)} ${String(name)}`)).toEqual([
      "query broken",
      "mutation change",
      "query tasks.find",
    ]);
    expect(procedures[2]).toEqual({
      name: "tasks.find",
      kind: "query",
      description: "Finds tasks",
      input_schema: INPUT,
      output_schema: { type: "object" },
      example_input: { title: "Buy milk" },
      direct_tool: `${app.slug}_tasks_find`,
    });
  },
);

test("an app with more than five procedures has no direct tools, and its pages continue by name", async () => {
  const many = await service().givenApp(tenant, { name: "many" });
  const names = Array.from({ length: 7 }, (_, n) => `p${n}`);
  await givenProcedures(
    service(),
    many,
    names.toReversed().map((name) => discoveredProcedure(name)),
  );
  const read = async (query: string) => (await tenant.rest.get(path(query, many.id))).body;
  const first = await read("?limit=4");
  const second = await read(`?limit=4&cursor=${String(first["next_cursor"])}`);
  const listed = [first, second].flatMap(({ procedures }) => procedures as { name: string; direct_tool: unknown }[]);
  expect(listed.map(({ name, direct_tool: tool }) => [name, tool])).toEqual(names.map((name) => [name, null]));
  expect(second["next_cursor"]).toBeNull();
});

test("an app that is not live has no procedures", async () => {
  const { id } = await service().givenApp(tenant, { status: "building", name: "new" });
  expect((await tenant.rest.get(path("", id))).body).toEqual({ procedures: [], next_cursor: null });
  const call = await tenant.rest.post(path("/a/call", id), {});
  expect([call.status, call.body]).toEqual([
    404,
    { error: "The app has no procedures. Deploy a version of it that offers some." },
  ]);
});

verifies(
  "procedures.callById",
  "a call returns the output of the app, and an error of the app is a result",
  async () => {
    const found = await tenant.rest.post(path("/tasks.find/call"), { input: { title: "a" } });
    expect([found.status, found.body]).toEqual([200, { ok: true, output: { method: "GET", title: "a" } }]);
    const broken = await tenant.rest.post(path("/broken/call"), {});
    expect([broken.status, broken.body]).toEqual([200, { ok: false, status: 409, message: "The shop is closed" }]);
  },
);

test("404 hides another organization's app, and names the procedures of an own one", async () => {
  const other = await service().tenant();
  const notFound = { error: "App not found" };
  expect((await other.rest.get(path())).body).toEqual(notFound);
  expect((await other.rest.post(path("/broken/call"), {})).body).toEqual(notFound);
  const missing = await tenant.rest.post(path("/tasks.fin/call"), {});
  expect([missing.status, missing.body["error"]]).toEqual([
    404,
    'The app has no procedure with this name. Did you mean "tasks.find"? Its procedures: "broken", "change", "tasks.find".',
  ]);
});

test("400 for a cursor that the service did not return", async () => {
  const { status, body } = await tenant.rest.get(path("?cursor=a!"));
  expect([status, body["error"]]).toEqual([400, expect.stringMatching(/^cursor: invalid cursor\./)]);
});

test("the scope read permits calling a query of an app, and everything a mutation", async () => {
  const rpc = rpcClient(service().service.publicUrl, tenant.api_key);
  const { token } = await rpc.tokens.issue.mutate({ kind: "api_key", name: "reader", scope: "read" });
  const reader = new RestClient(service().service.publicUrl, token);
  expect((await reader.get(path())).status).toBe(200);
  expect((await reader.post(path("/tasks.find/call"), { input: { title: "a" } })).status).toBe(200);
  const rejected = await reader.post(path("/change/call"), { input: {} });
  expect([rejected.status, rejected.body["error"]]).toEqual([
    403,
    expect.stringMatching(/^Scope "everything" required/),
  ]);
  expect((await tenant.rest.post(path("/change/call"), { input: {} })).body).toMatchObject({
    ok: true,
    output: { method: "POST" },
  });
});
