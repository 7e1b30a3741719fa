import { beforeAll, expect, test } from "vitest";
import type { App } from "../../domain/apps/app.entity.ts";
import { SCOPES, type Scope } from "../../domain/shared/scopes.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { discoveredProcedure, givenLiveApp } from "../support/edge/live-app.ts";
import { createOwnedTenant, type OwnedTenant } from "../support/identity/owned-tenant.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });
let owned: OwnedTenant;
let app: App;

const SCRIPT = `export default { fetch: (request) => Response.json({ method: request.method }) };`;

beforeAll(async () => {
  owned = await createOwnedTenant(service());
  const procedures = [discoveredProcedure("look"), discoveredProcedure("change", "mutation")];
  app = await givenLiveApp(service(), owned.tenant, { script: SCRIPT, procedures });
});

async function oauthToken(scope: string, path = "/mcp"): Promise<string> {
  const { body } = await owned.oauth.grant(`${owned.url}${path}`, scope);
  return String(body["access_token"]);
}

async function personalToken(scope: Scope): Promise<string> {
  const rpc = rpcClient(owned.url, await owned.owner.accessToken());
  return (await rpc.tokens.issue.mutate({ kind: "personal_access_token", name: scope, scope })).token;
}

const connect = (token: string) => new GatewayClient(owned.url, token);
const direct = (procedure: string) => `${app.slug}_${procedure}`;

const SCOPES_OF_IDENTITY = ["openid email profile", "offline_access", "openid"];

test("403 rejects every request with an OAuth token without a scope of the service", async () => {
  for (const scope of SCOPES_OF_IDENTITY) {
    const gateway = connect(await oauthToken(scope));
    for (const [method, params] of [
      ["initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } }],
      ["ping", undefined],
      ["tools/list", undefined],
      ["tools/call", { name: "service_list_apps", arguments: {} }],
      ["tools/call", { name: direct("look"), arguments: {} }],
    ] as const) {
      const answer = await gateway.call(method, params);
      expect([scope, method, answer.status, answer.headers.get("www-authenticate")]).toEqual([
        scope,
        method,
        403,
        expect.stringMatching(/^Bearer error="insufficient_scope", scope="read", resource_metadata="http/),
      ]);
      expect(answer.text).not.toContain(app.slug);
    }
    const rest = new RestClient(owned.url, await oauthToken(scope, "/v1"));
    for (const path of ["/v1/apps", `/v1/apps/${app.id}`, "/v1/tokens", "/v1/audit-events"]) {
      const answer = await rest.get(path);
      expect([scope, path, answer.status, answer.headers.get("www-authenticate")]).toEqual([
        scope,
        path,
        403,
        expect.stringMatching(/^Bearer error="insufficient_scope", scope="(read|everything)"$/),
      ]);
    }
  }
});

/** The tools that tokens of each scope may call. */
const READING = [
  "company_knowledge_get",
  "company_knowledge_search",
  "memory_recall",
  "project_search",
  "projects_list",
  "service_docs_search",
  "service_execute",
  "service_get_agent_instructions",
  "service_get_app_changes",
  "service_get_app_logs",
  "service_get_runtime_logs",
  "service_get_session_transcript",
  "service_get_usage",
  "service_list_agent_sessions",
  "service_list_agent_skills",
  "service_list_agents",
  "service_list_apps",
  "service_list_deployments",
  "service_list_variables",
].toSorted();
const DEPLOYING = [
  ...READING,
  "service_deploy_app",
  "service_promote_app",
  "service_redeploy_app",
  "service_rollback_app",
  "service_set_variable",
].toSorted();
const ALL = [...DEPLOYING, "memory_write", "service_delete_app", "service_set_agent_instructions"].toSorted();

test("tools/list contains the tools that the scope permits, for OAuth tokens and personal access tokens", async () => {
  const expected: Record<Scope, string[]> = {
    read: [...READING, direct("look")],
    deploy: [...DEPLOYING, direct("look")],
    everything: [...ALL, direct("change"), direct("look")],
  };
  for (const scope of SCOPES)
    for (const token of [await oauthToken(scope), await personalToken(scope)]) {
      const names = (await connect(token).tools()).map(({ name }) => name);
      expect([scope, names]).toEqual([scope, expected[scope]]);
    }
});

test("a token with the scope read calls queries of apps, and each call beyond its scope says which scope it requires", async () => {
  for (const scope of ["read", "deploy"] as const) {
    const [oauth, personal] = [connect(await oauthToken(scope)), connect(await personalToken(scope))];
    for (const gateway of [oauth, personal])
      expect((await gateway.tool(direct("look"))).structuredContent).toEqual({ output: { method: "GET" } });
    const rejected = await oauth.call("tools/call", { name: direct("change"), arguments: {} });
    expect([rejected.status, rejected.headers.get("www-authenticate")]).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="everything", resource_metadata="${owned.url}/.well-known/oauth-protected-resource/mcp"`,
    ]);
    expect(rejected.body.error?.message).toMatch(/Scope "everything" required/);
    const result = await personal.tool(direct("change"));
    expect([result.isError, result.text]).toEqual([true, expect.stringContaining('Scope "everything" required')]);
  }
  const full = connect(await oauthToken("everything"));
  expect((await full.tool(direct("change"))).structuredContent).toEqual({ output: { method: "POST" } });
});

test("403 names the scope that a tool of the service requires, and other errors of an OAuth client's call have their own response", async () => {
  const gateway = connect(await oauthToken("read"));
  const deploy = { name: "service_deploy_app", arguments: { repo: "acme/site" } };
  const rejected = await gateway.call("tools/call", deploy);
  expect([rejected.status, rejected.headers.get("www-authenticate")]).toEqual([
    403,
    expect.stringContaining('error="insufficient_scope", scope="deploy"'),
  ]);
  const unknown = await gateway.call("tools/call", { name: "absent_tool" });
  expect([unknown.status, unknown.body.error?.code]).toEqual([200, -32_602]);
  const em = service().service.parts.orm.em.fork();
  await em.execute("alter table apps rename to apps_unavailable");
  try {
    const failed = await gateway.call("tools/call", { name: direct("look") });
    expect([failed.status, failed.body.error?.code]).toEqual([200, -32_603]);
  } finally {
    await em.execute("alter table apps_unavailable rename to apps");
  }
});

test("403 rejects a call beyond the scope of an OAuth token also in a request that the SDK handles", async () => {
  const gateway = connect(await oauthToken("read"));
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: direct("change"), _meta: { a: 1 } } };
  const permitted = { ...call, params: { name: direct("look") } };
  for (const body of [call, [call], [{ jsonrpc: "2.0", method: "notifications/initialized" }, call], [permitted, call]])
    expect([body, (await gateway.send(JSON.stringify(body))).status]).toEqual([body, 403]);
});

test("a message that calls no tool has no error of a scope", async () => {
  const gateway = connect(await oauthToken("read"));
  const ping = { jsonrpc: "2.0", id: 1, method: "ping", params: { name: direct("change") } };
  expect((await gateway.send(JSON.stringify(ping))).body.result).toEqual({});
  const malformed = [null, 7, [null], { ...ping, method: "tools/call", params: 7 }];
  for (const body of malformed) expect([body, (await gateway.send(JSON.stringify(body))).status]).toEqual([body, 400]);
});

test("a program has the scope of the call that started it", async () => {
  const code = `
    const app = service.apps[${JSON.stringify(app.slug)}];
    console.log((await app.look({})).method, (await service.tools.service_list_apps({})).apps.length);
    console.log(await app.change({}).then(({ method }) => method, (error) => error.code + ": " + error.message));`;
  const run = async (token: string) =>
    String((await connect(token).tool("service_execute", { code })).structuredContent["stdout"]).split("\n");
  for (const token of [await oauthToken("read"), await personalToken("read")])
    expect(await run(token)).toEqual(["GET 1", expect.stringMatching(/^forbidden: Scope "everything" required/), ""]);
  expect(await run(await personalToken("everything"))).toEqual(["GET 1", "POST", ""]);
});

verifies(
  "procedures.invoke",
  "typed RPC calls queries of apps with the scope read, and names the missing scope in a challenge",
  async () => {
    const token = await oauthToken("read", "/v1");
    const invoke = (procedure: string) =>
      fetch(`${owned.url}/trpc/procedures.invoke`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ app: app.slug, procedure, input: {} }),
      });
    expect((await invoke("look")).status).toBe(200);
    const rejected = await invoke("change");
    expect([rejected.status, rejected.headers.get("www-authenticate")]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="everything"',
    ]);
  },
);
