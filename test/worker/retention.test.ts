import { beforeAll, expect, test } from "vitest";
import { purgeExpiredRecords } from "../../domain/retention/purge-expired-records.ts";
import { readTokenRequestClient } from "../../server/identity/side-effects.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let owner: TestUser;
let oauth: OAuthRequests;

beforeAll(async () => {
  const { publicUrl } = service().service;
  owner = new TestUser(publicUrl);
  await owner.signUp();
  oauth = new OAuthRequests(publicUrl, owner);
});

const execute = <T = unknown>(sql: string, values: unknown[] = []): Promise<T[]> =>
  service().service.parts.orm.em.fork().execute<T[]>(sql, values);
const purge = (auditDays: number | null = 365) => purgeExpiredRecords(service().service.parts.db, { auditDays });

async function namesIn(table: string, column: string): Promise<string[]> {
  const rows = await execute<{ name: string }>(`select "${column}" as name from ${table} order by 1`);
  return rows.map(({ name }) => name);
}

const ago = (days: number) => `now() - interval '${days} days'`;

/** Inserts into each table a record to purge and a record to keep. */
async function insertRecords(clientId: string): Promise<void> {
  const user = `(select id from auth."user" limit 1)`;
  for (const [name, days, sessionDays] of [
    ["expired", 2, 31],
    ["kept", 0, 29],
  ] as const) {
    await execute(
      `insert into auth.verification (identifier, value, "expiresAt", "createdAt", "updatedAt")
       values ('${name}', 'x', ${ago(days)}, now(), now())`,
    );
    await execute(
      `insert into auth."deviceCode" ("deviceCode", "userCode", "expiresAt", status)
       values ('${name}', '${name}', ${ago(days)}, 'pending')`,
    );
    await execute(
      `insert into auth.session (token, "userId", "expiresAt", "createdAt", "updatedAt")
       values ('${name}', ${user}, ${ago(sessionDays)}, now(), now())`,
    );
    for (const table of ["oauthRefreshToken", "oauthAccessToken"])
      await execute(
        `insert into auth."${table}" (token, "clientId", "userId", "expiresAt", "createdAt", scopes)
         values ('${name}', '${clientId}', ${user}, ${ago(days)}, now(), '[]')`,
      );
  }
}

test("concurrent purges delete each expired record once, and no other record", async () => {
  await insertRecords(await oauth.register());
  await execute(
    `insert into audit_events (id, action, outcome, created_at)
     select gen_random_uuid(), 'expired', 'done', ${ago(366)} from generate_series(1, 1200)`,
  );
  await execute(
    `insert into audit_events (id, action, outcome, created_at)
     values (gen_random_uuid(), 'kept', 'done', ${ago(364)})`,
  );
  expect(await purge(null)).toBe(5);
  const counts = await Promise.all([purge(), purge(), purge()]);
  expect(counts.reduce((sum, count) => sum + count)).toBe(1200);
  expect(await namesIn("auth.verification", "identifier")).toEqual(["kept"]);
  expect(await namesIn(`auth."deviceCode"`, "deviceCode")).toEqual(["kept"]);
  expect(await namesIn(`auth."oauthRefreshToken"`, "token")).toEqual(["kept"]);
  expect(await namesIn(`auth."oauthAccessToken"`, "token")).toEqual(["kept"]);
  expect(await namesIn("auth.session", "token")).toContain("kept");
  expect(await namesIn("auth.session", "token")).not.toContain("expired");
  expect(await namesIn("audit_events", "action")).toEqual(expect.arrayContaining(["kept", "sign-up/email"]));
  expect(await namesIn("audit_events", "action")).not.toContain("expired");
  expect((await owner.get("/get-session")).body["user"]).toMatchObject({ email: owner.email });
});

test("unused OAuth clients are deleted; a recently used one remains and works", async () => {
  const resource = `${service().service.publicUrl}/mcp`;
  const scope = "read offline_access";
  const [used, idle, recent, trusted, published, pending] = await Promise.all(
    Array.from({ length: 6 }, () => oauth.register()),
  );
  const consented = await oauth.register();
  const { body } = await oauth.grantTo(used!, { resource, scope });
  await oauth.grantTo(idle!, { resource, scope });
  await execute(
    `insert into auth."oauthConsent" ("clientId", "userId", scopes, "createdAt", "updatedAt")
     select ?, id, '[]', now(), now() from auth."user" limit 1`,
    [consented],
  );
  const all = [used, idle, trusted, published, consented, pending].map((id) => `'${id}'`).join();
  const lastChanged = (days: number) => `"createdAt" = ${ago(days)}, "updatedAt" = ${ago(days)}`;
  await execute(`update auth."oauthClient" set ${lastChanged(8)} where "clientId" in (${all})`);
  await execute(
    `update auth."oauthClient" set ${lastChanged(92)}, "lastUsedAt" = ${ago(91)} where "clientId" = '${idle}'`,
  );
  // A user has the consent page of this client open.
  await execute(`update auth."oauthClient" set "updatedAt" = now() where "clientId" = '${pending}'`);
  await execute(`update auth."oauthClient" set "skipConsent" = true where "clientId" = '${trusted}'`);
  await execute(`update auth."oauthClient" set "clientDiscoveryId" = 'cimd' where "clientId" = '${published}'`);
  await purge();
  const remaining = await namesIn(`auth."oauthClient"`, "clientId");
  expect([used, recent, trusted, consented, pending].filter((id) => !remaining.includes(id!))).toEqual([]);
  expect([idle, published].filter((id) => remaining.includes(id!))).toEqual([]);
  const refresh = { grant_type: "refresh_token", refresh_token: String(body["refresh_token"]), resource };
  expect((await oauth.requestToken({ ...refresh, client_id: used! })).status).toBe(200);
  await execute(`update auth."oauthClient" set ${lastChanged(91)} where "clientId" = '${consented}'`);
  expect(await purge()).toBe(1);
});

test("the last use of a client is stored at most once a day, and not for rejected requests", async () => {
  const clientId = await oauth.register();
  const resource = `${service().service.publicUrl}/mcp`;
  const lastUse = async () =>
    (
      await execute<{ at: string | null }>(`select "lastUsedAt" as at from auth."oauthClient" where "clientId" = ?`, [
        clientId,
      ])
    )[0]!.at;
  expect(await lastUse()).toBeNull();
  const { body } = await oauth.grantTo(clientId, { resource, scope: "read offline_access" });
  const first = await lastUse();
  expect(first).not.toBeNull();
  const form = { grant_type: "refresh_token", client_id: clientId, resource };
  const again = await oauth.requestToken({ ...form, refresh_token: String(body["refresh_token"]) });
  expect([again.status, await lastUse()]).toEqual([200, first]);
  await execute(`update auth."oauthClient" set "lastUsedAt" = ${ago(2)} where "clientId" = ?`, [clientId]);
  expect((await oauth.requestToken({ ...form, refresh_token: "wrong" })).status).toBe(400);
  expect(new Date((await lastUse())!).getTime()).toBeLessThan(Date.now() - 86_400_000);
  await oauth.requestToken({ ...form, refresh_token: String(again.body["refresh_token"]) });
  expect(new Date((await lastUse())!).getTime()).toBeGreaterThan(Date.now() - 86_400_000);
});

test("the client of a token request is read from its id, its assertion or the Basic scheme, and from nothing else", () => {
  const claims = Buffer.from('{"sub":"one"}').toString("base64url");
  const basic = (pair: string) => new Headers({ authorization: `Basic ${btoa(pair)}` });
  const requests = [
    { body: { client_id: "one" } },
    { body: { client_assertion: `e30.${claims}.x` } },
    { body: {}, headers: basic("one:secret:with:colons") },
  ];
  expect(requests.map(readTokenRequestClient)).toEqual(["one", "one", "one"]);
  expect(readTokenRequestClient({ headers: basic("a%3Ab:x") })).toBe("a:b");
  const none = [
    {},
    { body: "x" },
    { body: { client_assertion: "x" } },
    { headers: new Headers({ authorization: "Basic" }) },
  ];
  expect(none.map(readTokenRequestClient)).toEqual([null, null, null, null]);
});

test("the sweep of the worker deletes audit events that are older than AUDIT_RETENTION_DAYS", async () => {
  await using harness = await createHarness({ worker: true, config: { auditRetentionDays: 10 } });
  const { orm, boss } = harness.service.parts;
  await orm.em.fork().execute(
    `insert into audit_events (id, action, outcome, created_at)
     select gen_random_uuid(), days::text, 'done', now() - days * interval '1 day' from unnest(array[9, 11]) as days`,
  );
  await boss.send("sweep", {});
  const actions = () => orm.em.fork().execute(`select action from audit_events`);
  await expect.poll(actions).toEqual([{ action: "9" }]);
});
