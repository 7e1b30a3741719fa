import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { beforeAll, expect, test } from "vitest";
import { App } from "../../domain/apps/app.entity.ts";
import { Customization } from "../../domain/deployments/customization.entity.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import { DocumentPassage } from "../../domain/documents/document-passage.entity.ts";
import { DocumentVersion } from "../../domain/documents/document-version.entity.ts";
import { Document } from "../../domain/documents/document.entity.ts";
import { GatewayClient, type ToolResult } from "../support/clients/gateway-client.ts";
import { Session } from "../../domain/sessions/session.entity.ts";
import { SessionEntry } from "../../domain/sessions/session-entry.entity.ts";
import { givenSession, sampleEntries } from "../support/service/given-session.ts";
import { createHarness, type Tenant } from "../support/service/harness.ts";
import { isReservedToolName } from "../../domain/procedures/direct-tool-names.ts";
import { discoveredProcedure, givenLiveApp } from "../support/edge/live-app.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { APP_ID, DOCUMENT_ID, INVALID, PROJECT_ID, SESSION_ID, VALID } from "./tool-arguments.ts";

const service = sharedHarness();

const SCRIPT = `
export default {
  fetch: ({ url }) =>
    url.endsWith("/refuse") ? new Response("no", { status: 409 }) : Response.json({ at: [1, "two", null], url }),
};`;

let tenant: Tenant;
let gateway: GatewayClient;
let tools: { name: string; inputSchema: { properties: object }; outputSchema: object }[];

beforeAll(async () => {
  tenant = await service().tenant();
  const procedures = [discoveredProcedure("answer"), discoveredProcedure("refuse", "mutation")];
  await givenLiveApp(service(), tenant, { script: SCRIPT, procedures });
  await givenReplacedApp();
  await givenStoredSession();
  await givenDocument();
  await givenProject();
  gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
  tools = (await gateway.tools()) as typeof tools;
});

/** Records the app with the id of the arguments. Its deployment was replaced, and has a bundle. It has an environment. */
async function givenReplacedApp(): Promise<void> {
  const { id } = await service().givenApp(tenant);
  const em = service().service.parts.orm.em.fork();
  await em.nativeUpdate(Deployment, { appId: id }, { appId: APP_ID, status: "superseded", artifactKey: "1" });
  const { id: deploymentId } = await em.findOneOrFail(Deployment, { appId: APP_ID });
  const changes = JSON.stringify([{ path: "a.ts", before: "1\n", after: "2\n" }]);
  const counts = { steps: 1, inputTokens: 1, outputTokens: 1, durationMs: 1 };
  await em.insert(Customization, {
    deploymentId,
    appId: APP_ID,
    instructions: ["x"],
    changes,
    ...counts,
    createdAt: new Date(),
  });
  await em.nativeUpdate(App, { id }, { id: APP_ID, liveDeploymentId: null });
  const staging = await service().givenApp(tenant);
  await em.nativeUpdate(App, { id: staging.id }, { parentId: APP_ID, environment: "staging" });
  await em.nativeUpdate(Deployment, { appId: staging.id }, { artifactKey: "1" });
}

/** Stores the session with the id of the arguments. */
async function givenStoredSession(): Promise<void> {
  const { session_id: id } = await givenSession(tenant.rest, { entries: sampleEntries(3) });
  const em = service().service.parts.orm.em.fork();
  await em.nativeUpdate(SessionEntry, { sessionId: id }, { sessionId: SESSION_ID });
  await em.nativeUpdate(Session, { id }, { id: SESSION_ID });
}

/** Adds the document with the id of the arguments. */
/** Stores the project with the id of the arguments, mounted on the main agent. */
async function givenProject(): Promise<void> {
  const agentId = await mainAgentId(tenant.rest);
  const created = await tenant.rest.post("/v1/projects", { name: "Acme", kind: "client", agent_ids: [agentId] });
  const id = String(created.body["project_id"]);
  await tenant.rest.post(`/v1/projects/${id}/documents`, { title: "Plan", content: "The launch is in May." });
  const em = service().service.parts.orm.em.fork();
  for (const [table, column] of [
    ["projects", "id"],
    ["project_mounts", "project_id"],
    ["documents", "project_id"],
    ["document_passages", "owner_id"],
    ["search_scopes", "owner_id"],
  ])
    await em.execute(`update ${table} set ${column} = ? where ${column} = ?`, [PROJECT_ID, id]);
}

async function givenDocument(): Promise<void> {
  const document = { kind: "faq", content: "Refunds take five days." };
  const { body } = await tenant.rest.post("/v1/knowledge/documents", document);
  const em = service().service.parts.orm.em.fork();
  const id = String(body["document_id"]);
  await em.nativeUpdate(DocumentPassage, { documentId: id }, { documentId: DOCUMENT_ID });
  await em.nativeUpdate(DocumentVersion, { documentId: id }, { documentId: DOCUMENT_ID });
  await em.nativeUpdate(Document, { id }, { id: DOCUMENT_ID });
}

/** Calls a tool with all attempts to deploy left. */
async function callTool(name: string, input: object): Promise<ToolResult> {
  await service().service.parts.orm.em.fork().execute("delete from rate_limit_windows");
  return gateway.tool(name, input);
}

const own = () => tools.filter(({ name }) => isReservedToolName(name));

/** Returns how a result violates the output schema of its tool; `null` when it conforms. */
function findViolation(outputSchema: object, { structuredContent, text }: ToolResult): string | null {
  expect(JSON.parse(text)).toEqual(structuredContent);
  const ajv = new Ajv2020({ formats: fullFormats });
  const validate = ajv.compile(outputSchema);
  return validate(structuredContent) ? null : ajv.errorsText(validate.errors);
}

test("every tool returns a result that conforms to its output schema, as structured content and as the same JSON text", async () => {
  expect(own().map(({ name }) => name)).toEqual(Object.keys(VALID).toSorted());
  expect(tools).toHaveLength(own().length + 2);
  // test/mcp/deployment-tools.test.ts deletes an app.
  for (const { name, outputSchema = {} } of tools.filter(({ name }) => name !== "service_delete_app"))
    for (const input of VALID[name] ?? [{}]) {
      const result = await callTool(name, input);
      expect([name, findViolation(outputSchema, result)]).toEqual([name, null]);
    }
});

test("every tool rejects an unknown argument and names the valid ones", async () => {
  for (const { name, inputSchema } of own()) {
    const result = await callTool(name, { ...VALID[name]?.[0], pages: 3 });
    expect([result.isError, result.text]).toEqual([true, expect.stringContaining(`unknown field "pages"`)]);
    for (const known of Object.keys(inputSchema.properties)) expect(result.text).toContain(known);
    expect(result.text).toMatch(/Arguments: |has no arguments/);
  }
});

test("every tool rejects an argument of a wrong type or out of bounds, and says what is valid", async () => {
  expect(own().map(({ name }) => name)).toEqual(Object.keys(INVALID).toSorted());
  for (const { name } of own())
    for (const [input, message] of INVALID[name] ?? []) {
      const result = await callTool(name, input);
      expect([result.isError, result.text]).toEqual([true, expect.stringMatching(message)]);
    }
  expect(service().logged()).not.toContain("a tool failed");
});

test("every tool reports an internal error without its details, which are in the log", async () => {
  await using harness = await createHarness();
  const owner = await harness.tenant();
  const client = new GatewayClient(harness.service.publicUrl, owner.personal_access_token);
  expect((await client.tool("service_list_apps")).isError).toBe(false);
  const em = harness.service.parts.orm.em.fork();
  for (const table of ["apps", "agents", "sessions", "documents", "projects", "search_scopes"])
    await em.execute(`alter table ${table} rename to ${table}_out_of_reach`);
  const calls = [...own().map(({ name }) => ({ name, arguments: VALID[name]?.[0] })), { name: "absent_tool" }];
  for (const call of calls.filter(({ name }) => name !== "service_execute")) {
    const { text } = await client.call("tools/call", call);
    expect(text).toMatch(/Internal error/);
    expect(text).not.toMatch(/_out_of_reach|relation|select|\.ts|node_modules/i);
  }
  const listing = await client.call("tools/list");
  expect(listing.text).not.toMatch(/_out_of_reach|relation|select|\.ts|node_modules/i);
  const logged = harness.logged().split("\n");
  for (const name of ["service_list_apps", "service_docs_search", "service_get_usage"])
    expect(logged.some((line) => line.includes(`"${name}"`) && line.includes("does not exist"))).toBe(true);
});
