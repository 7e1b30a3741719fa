import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { EMPTY_TEXT_IS_A_VALUE, omitAbsent } from "../../routers/core/omit-absent.ts";
import type { Meta } from "../../routers/core/trpc.ts";
import { appRouter } from "../../routers/index.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

interface Procedure {
  _def: { meta?: Meta; inputs: z.ZodObject[] };
}

/** The schemas of all inputs and of all arguments of tools, with the path of the procedure. */
const SCHEMAS = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>).flatMap(
  ([path, { _def }]) =>
    [_def.inputs[0], _def.meta?.tool?.arguments].flatMap((schema): [string, z.ZodObject][] =>
      schema === undefined ? [] : [[path, schema]],
    ),
);

/** The optional fields of an object, also in objects and arrays within it. */
function optionalFields(schema: z.ZodType, path: string): [path: string, owner: z.ZodObject, name: string][] {
  let inner: z.ZodType = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodNullable)
    inner = inner.unwrap() as z.ZodType;
  if (inner instanceof z.ZodArray) return optionalFields(inner.element as z.ZodType, `${path}[]`);
  if (!(inner instanceof z.ZodObject)) return [];
  const object = inner;
  return Object.entries(object.shape as Record<string, z.ZodType>).flatMap(([name, field]) => [
    ...(field.safeParse(undefined).success ? [[`${path}.${name}`, object, name] as const] : []),
    ...optionalFields(field, `${path}.${name}`),
  ]) as [string, z.ZodObject, string][];
}

const FIELDS = SCHEMAS.flatMap(([path, schema]) => optionalFields(schema, path));
const without = (value: unknown) =>
  FIELDS.filter(([, owner, name]) => Object.keys(omitAbsent(owner, { [name]: value }) as object).length === 0);
const others = (value: unknown) => {
  const omitted = without(value);
  return [...new Set(FIELDS.filter((field) => !omitted.includes(field)).map(([path]) => path))].toSorted();
};

test("null counts as absent in every optional field, except where the schema gives it a meaning", () => {
  expect(FIELDS.length).toBeGreaterThan(150);
  expect(others(null)).toEqual([
    "agentRuntimes.declare.platform",
    "agents.update.model",
    "apps.update.root_directory",
    "apps.update.runtime",
    "deployments.redeploy.customization",
    "procedures.callById.input",
    "procedures.invoke.input",
    "pushDeploy.set.branch",
    "skills.upload.expected_hash",
  ]);
});

test("the empty text counts as absent in every optional field, except where it has a meaning", () => {
  expect(others("")).toEqual([
    "agentWorkspaces.clear.path",
    "instructions.set.content",
    "procedures.callById.input",
    "procedures.invoke.input",
    "projects.create.description",
    "projects.update.description",
  ]);
});

test("other values stay, whatever they are", () => {
  const schema = z.strictObject({ a: z.string().optional(), b: z.array(z.object({ c: z.int().optional() })) });
  const value = { a: " ", b: [{ c: 0 }, 7, null], d: null, e: "" };
  expect(omitAbsent(schema, value)).toEqual(value);
  expect(omitAbsent(schema, { b: [{ c: null }, { c: "" }] })).toEqual({ b: [{}, {}] });
  for (const other of [null, undefined, 7, "text", []]) expect(omitAbsent(schema, other)).toEqual(other);
  const kept = z.object({
    a: z.string().register(EMPTY_TEXT_IS_A_VALUE, { reason: "a test" }).nullable().default("x"),
  });
  expect(omitAbsent(kept, { a: "" })).toEqual({ a: "" });
});

test("REST ignores null and empty optional values, in a body and in a query", async () => {
  const { rest } = await service().tenant();
  const optional = { branch: null, customization: "", root_directory: "", build_network: null, runtime: "" };
  const { status, body } = await rest.post("/v1/apps/deploy", { repo: "acme/site", ...optional });
  expect(status).toBe(201);
  const id = String(body["app_id"]);
  for (const path of [
    "/v1/sessions?server_id=&agent_id=&limit=&cursor=",
    `/v1/apps/${id}/deployments?limit=&cursor=`,
    `/v1/apps/${id}/runtime-logs?since=&level=&limit=&cursor=`,
    "/v1/knowledge/documents?kind=&limit=&cursor=",
  ])
    expect([path, (await rest.get(path)).status]).toEqual([path, 200]);
  const agents = (await rest.get("/v1/servers")).body["servers"] as { agent: { agent_id: string } }[];
  const cleared = await rest.delete(`/v1/agents/${agents[0]?.agent.agent_id ?? ""}/workspace?path=`);
  expect([cleared.status, cleared.body["error"]]).toEqual([400, "path: must have at least 1 character"]);
});

test("tools ignore null and empty optional arguments, also when a program calls them", async () => {
  const gateway = new GatewayClient(service().service.publicUrl, (await service().tenant()).personal_access_token);
  for (const value of [null, ""])
    for (const [name, input] of [
      ["service_list_apps", { limit: value, cursor: value }],
      ["service_get_agent_instructions", { agent_id: value }],
      ["service_docs_search", { query: "x", limit: value, app: value }],
      ["projects_list", { kind: value, agent_id: value, cursor: value }],
    ] as const)
      expect([name, (await gateway.tool(name, input)).isError]).toEqual([name, false]);
  const { text } = await gateway.tool("service_get_session_transcript", { session_id: randomUUID(), limit: null });
  expect(text).toContain("Session not found");
  const code = "const { apps } = await service.tools.service_list_apps({ limit: null }); console.log(apps.length);";
  expect(
    (await gateway.tool("service_execute", { code, timeout_ms: null, agent_id: "" })).structuredContent,
  ).toMatchObject({
    stdout: "0\n",
  });
});
