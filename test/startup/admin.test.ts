import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { insertTokens } from "../support/identity/insert-tokens.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createTestDatabase, TEST_TOKEN_SECRET } from "../support/service/test-databases.ts";
import { runAdmin } from "../support/service/run-admin.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { stopMonotonicClock } from "../support/service/stopped-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function environmentOf({ config, dataDirectory }: Harness): Record<string, string> {
  return {
    DATA_DIR: dataDirectory,
    ...(config.databaseUrl !== null && { DATABASE_URL: config.databaseUrl, TOKEN_SECRET: TEST_TOKEN_SECRET }),
    ...(config.redisUrl !== null && { REDIS_URL: config.redisUrl }),
  };
}

test("reset-password prints a new password and revokes the user's sessions and OAuth tokens", async () => {
  await using folder = await temporaryFolder();
  const dataDirectory = folder.path;
  const { databaseUrl, redisUrl, ...database } = await createTestDatabase();
  // Both services use the same port, because the port is part of the issuer of their access tokens.
  const optionsFor = (port: number) => ({ config: { dataDirectory, databaseUrl, redisUrl, port } });
  let port: number;
  const env = { DATA_DIR: dataDirectory, DATABASE_URL: databaseUrl, TOKEN_SECRET: TEST_TOKEN_SECRET };
  let user: TestUser;
  let refreshRequest: Record<string, string>;
  let oldTokens: string[];
  {
    await using harness = await createHarness(optionsFor(0));
    const { publicUrl } = harness.service;
    ({ port } = harness.service);
    user = new TestUser(publicUrl, "Ada@Example.com");
    await user.signUp();
    const { body } = await new OAuthRequests(publicUrl, user).grant(`${publicUrl}/v1`, "read offline_access");
    const accessToken = String(body["access_token"]);
    refreshRequest = {
      grant_type: "refresh_token",
      refresh_token: String(body["refresh_token"]),
      client_id: readClientId(accessToken),
    };
    oldTokens = [await user.accessToken(), accessToken];
    for (const token of oldTokens) expect((await new RestClient(publicUrl, token).get("/v1/apps")).status).toBe(200);
  }
  for (const email of ["nobody@example.com", "owner@localhost.localdomain", "x@oidc.invalid"]) {
    const result = await runAdmin(env, "reset-password", "--email", email);
    expect(result).toEqual({ code: 1, stdout: "", stderr: "No user has this email address.\n" });
  }
  expect((await runAdmin(env, "reset-password")).stderr).toBe("--email is missing\n");
  const { code, stdout, stderr } = await runAdmin(env, "reset-password", "--email", "ada@example.com", "--json");
  const { password, user_id: userId } = JSON.parse(stdout) as Record<string, string>;
  expect([code, stderr, password]).toEqual([0, "", expect.stringMatching(/^[\w-]{24}$/)]);
  {
    await using harness = await createHarness(optionsFor(port));
    const { publicUrl } = harness.service;
    for (const token of oldTokens) expect((await new RestClient(publicUrl, token).get("/v1/apps")).status).toBe(401);
    const returning = new TestUser(publicUrl, user.email);
    expect((await new OAuthRequests(publicUrl, returning).requestToken(refreshRequest)).status).toBe(400);
    expect([(await returning.signIn()).status, (await returning.signIn(password)).status]).toEqual([401, 200]);
    const { events } = await rpcClient(publicUrl, await returning.accessToken()).audit.list.query({});
    const event = { action: "reset-password", outcome: "done", user_id: userId, target: userId, credential_kind: null };
    expect(events).toContainEqual(expect.objectContaining(event));
    expect(harness.logged() + JSON.stringify(events)).not.toContain(password);
  }
  await database[Symbol.asyncDispose]();
});

test("the command that a 401 of the gateway advises creates a valid token beside the running service", async () => {
  // The service of most installations has an embedded database, which only one process can start.
  await using harness = await createHarness({ config: { databaseUrl: null, redisUrl: null } });
  const { publicUrl, bootstrapped } = harness.service;
  const { body } = await new GatewayClient(publicUrl, null).call("tools/list");
  const [, advised = ""] = /npm run admin -- (create-token [^,]+),/.exec(body.error?.message ?? "") ?? [];
  const args = advised.replace("ID", bootstrapped!.org_id).replace("NAME", "Laptop").split(" ");
  const { code, stdout, stderr } = await runAdmin(environmentOf(harness), ...args, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  const { token } = JSON.parse(stdout) as { token: string };
  expect((await new GatewayClient(publicUrl, token).call("tools/list")).status).toBe(200);
});

test("create-token and revoke-token work while the service runs, respect the quota, and appear in the audit log", async () => {
  await using harness = await createHarness();
  const { publicUrl, bootstrapped } = harness.service;
  const orgId = bootstrapped!.org_id;
  const env = environmentOf(harness);
  const owner = new TestUser(publicUrl);
  await owner.signUp();
  const create = (kind: string, ...options: string[]) =>
    runAdmin(env, "create-token", "--org", orgId, "--kind", kind, "--name", "CI", "--json", ...options);

  // Without the notification from the other process, the service would accept the revoked token forever.
  using _clock = stopMonotonicClock();
  const created = JSON.parse((await create("api_key")).stdout) as { id: string; token: string };
  const rest = new RestClient(publicUrl, created.token);
  expect((await rest.get("/v1/apps")).status).toBe(200);
  expect((await create("gateway_token")).stderr).toBe("--agent is missing\n");
  const agent = await mainAgentId(new RestClient(publicUrl, await owner.accessToken()));
  expect((await create("gateway_token", "--agent", agent)).code).toBe(0);
  expect((await create("gateway_token", "--agent", randomUUID())).stderr).toContain("no such agent");

  const revoked = await runAdmin(env, "revoke-token", "--id", created.id, "--json");
  expect([revoked.code, JSON.parse(revoked.stdout)]).toEqual([0, { revoked: created.id }]);
  await expect.poll(async () => (await rest.get("/v1/apps")).status).toBe(401);
  expect((await runAdmin(env, "revoke-token", "--id", created.id)).code).toBe(1);

  await insertTokens(harness, { orgId, kind: "api_key", count: 1000 });
  const rejected = await create("api_key");
  expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringMatching(/^Token limit reached: /)]);

  const { events } = await rpcClient(publicUrl, await owner.accessToken()).audit.list.query({});
  const summary = events
    .filter(({ credential_kind: kind }) => kind === "operator")
    .map(({ action, outcome, user_id: userId, target }) => [action, outcome, userId, target])
    .toReversed();
  expect(summary).toEqual([
    ["tokens.issue", "done", null, created.id],
    ["tokens.issue", "done", null, expect.any(String)],
    ["tokens.issue", "refused", null, null],
    ["tokens.revoke", "done", null, created.id],
    ["tokens.issue", "refused", null, null],
  ]);
});

function readClientId(accessToken: string): string {
  const [, payload = ""] = accessToken.split(".");
  return (JSON.parse(Buffer.from(payload, "base64url").toString()) as { client_id: string }).client_id;
}
