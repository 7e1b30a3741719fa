import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpResponse } from "../support/clients/rest-client.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";

const PUBLIC_URL = "http://127.0.0.1:3999";
/** More than the connections of a pool. */
const MANY = 16;
let harnesses: Harness[];
/** The same user at each service. */
let oauth: OAuthRequests[];

/** Two services with one database and one public URL. */
beforeAll(async () => {
  const config = { publicUrl: PUBLIC_URL, tokenSecret: "x".repeat(32), signUp: "open" } as const;
  const one = await createHarness({ config });
  const { databaseUrl, redisUrl } = one.config;
  harnesses = [one, await createHarness({ config: { ...config, databaseUrl, redisUrl } })];
  const urls = harnesses.map(({ service }) => `http://127.0.0.1:${service.port}`);
  const user = new TestUser(urls[0]!, undefined, undefined, PUBLIC_URL);
  await user.signUp();
  oauth = urls.map((url) => new OAuthRequests(url, url === urls[0] ? user : new TestUser(url), PUBLIC_URL));
});
afterAll(async () => {
  for (const harness of harnesses.toReversed()) await harness[Symbol.asyncDispose]();
});

interface Refresh {
  grant_type: "refresh_token";
  client_id: string;
  refresh_token: string;
}

/** Grants access to a new client and returns the form of its first refresh. */
async function grantAccess(): Promise<Refresh> {
  const clientId = await oauth[0]!.register();
  const granted = await oauth[0]!.grantTo(clientId, { resource: `${PUBLIC_URL}/mcp`, scope: "read offline_access" });
  return { grant_type: "refresh_token", client_id: clientId, refresh_token: String(granted.body["refresh_token"]) };
}

/** Sends the same refresh many times at once, alternating between the services. */
function refreshAtOnce(refresh: Refresh): Promise<HttpResponse[]> {
  return Promise.all(Array.from({ length: MANY }, (_, at) => oauth[at % oauth.length]!.requestToken({ ...refresh })));
}

function execute(statement: string, clientId: string): Promise<Record<string, unknown>[]> {
  return harnesses[0]!.service.parts.orm.em.fork().execute(`${statement} where "clientId" = ?`, [clientId]);
}

test("simultaneous refreshes with one refresh token get the same new tokens, from two processes", async () => {
  const refresh = await grantAccess();
  const responses = await refreshAtOnce(refresh);
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  const tokens = new Set(
    responses.map(({ body }) => `${String(body["access_token"])} ${String(body["refresh_token"])}`),
  );
  expect(tokens.size).toBe(1);
  const next = { ...refresh, refresh_token: String(responses[0]!.body["refresh_token"]) };
  expect(next.refresh_token).not.toBe(refresh.refresh_token);
  expect((await oauth[1]!.requestToken({ ...next })).status).toBe(200);
});

test("many refreshes with different refresh tokens at once all succeed", async () => {
  const refreshes: Refresh[] = [];
  for (let at = 0; at < MANY; at++) refreshes.push(await grantAccess());
  const responses = await Promise.all(refreshes.map((refresh) => oauth[0]!.requestToken({ ...refresh })));
  expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
  expect(new Set(responses.map(({ body }) => body["refresh_token"])).size).toBe(refreshes.length);
});

test("the database stores the repeated response of a refresh encrypted", async () => {
  const refresh = await grantAccess();
  const [first] = await refreshAtOnce(refresh);
  const rows = JSON.stringify(await execute(`select * from auth."oauthRefreshToken"`, refresh.client_id));
  expect(rows).toContain("rotationReplayResponse");
  for (const name of ["access_token", "refresh_token"]) expect(rows).not.toContain(String(first!.body[name]));
});

test("a replaced refresh token that is used after the grace period is rejected, and revokes its successors", async () => {
  const refresh = await grantAccess();
  const [first] = await refreshAtOnce(refresh);
  const next = { ...refresh, refresh_token: String(first!.body["refresh_token"]) };
  const past = `now() - interval '1 second'`;
  await execute(`update auth."oauthRefreshToken" set "rotationReplayExpiresAt" = ${past}`, refresh.client_id);
  for (const used of [refresh, next])
    expect(await oauth[0]!.requestToken({ ...used })).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
});
