import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type Db, queryBuilderOf } from "../../../domain/database-types.ts";
import type { Caller, CredentialKind } from "../../../domain/shared/caller.ts";
import { listOAuthConnections } from "../../../domain/users/list-oauth-connections.ts";
import { connectOAuthClient, touchOAuthConnection } from "../../../domain/users/oauth-connections.ts";
import { revokeOAuthConnection } from "../../../domain/users/revoke-oauth-connection.ts";
import { revokeRefreshTokens } from "../../../domain/users/revoke-refresh-tokens.ts";
import { touchOAuthClient } from "../../../domain/users/touch-oauth-client.ts";
import { givenConsent, givenOAuthClient, givenRefreshToken, givenUser } from "../../support/identity/given-user.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { nextMillisecond } from "../../support/next-millisecond.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const db = (): Db => queryBuilderOf(em());
const DAY_MS = 86_400_000;
const CONNECTED = `select "clientId" from auth."oauthConnection" where "userId" = ?`;
const CONNECTION = `select id from auth."oauthConnection" where "userId" = ? and "clientId" = ?`;
const REVOKED = `select revoked as at from auth."oauthRefreshToken" where id = ?`;
const CONSENTS = `select count(*) from auth."oauthConsent" where "userId" in (?, ?)`;
const LAST_USE = `select "lastUsedAt" as at from auth."oauthClient" where "clientId" = ?`;
const ISSUED_AT = Math.floor(Date.now() / 1000) - 60;

function signedIn(userId: string | null, kind: CredentialKind = "access_token"): Caller {
  return { orgId: randomUUID(), userId, role: "member", scope: "everything", credential: { kind, id: "one" } };
}

const listOf = async (userId: string) => (await listOAuthConnections({ db: db() }, signedIn(userId))).connections;

function connect(
  userId: string,
  clientId: string,
  { requiresConsent = false, scope = "apps:read", at = ISSUED_AT } = {},
) {
  const access = { userId, clientId, scope, organizationId: null, issuedAt: at };
  return connectOAuthClient(db(), access, { requiresConsent });
}

/** Which of the refresh tokens are not revoked. */
async function validTokens(ids: readonly string[]): Promise<string[]> {
  const rows = await em().execute<{ id: string }[]>(`select id from auth."oauthRefreshToken" where revoked is null`);
  return ids.filter((id) => rows.some((row) => row.id === id));
}

test("a client that requires consent is connected only after the user has consented to it", async () => {
  const [userId, otherUser] = [await givenUser(em()), await givenUser(em())];
  const [consented, foreign, trusted] = [
    await givenOAuthClient(em()),
    await givenOAuthClient(em()),
    await givenOAuthClient(em(), { skipsConsent: true }),
  ];
  await givenConsent(em(), userId, consented);
  await givenConsent(em(), otherUser, foreign);
  for (const clientId of [consented, foreign, trusted]) await connect(userId, clientId, { requiresConsent: true });
  await connect(userId, randomUUID(), { requiresConsent: true });
  const rows = await em().execute<{ clientId: string }[]>(CONNECTED, [userId]);
  expect(new Set(rows.map(({ clientId }) => clientId))).toEqual(new Set([consented, trusted]));
});

test("a connected client is listed with its host, scopes and times, the last used one first", async () => {
  const userId = await givenUser(em());
  const { org_id: orgId } = await service().tenant();
  const published = await givenOAuthClient(em(), { clientId: `https://client.example.com/${randomUUID()}`, name: "A" });
  const registered = await givenOAuthClient(em(), { name: "B" });
  await connect(userId, published, { scope: "apps:read  apps:deploy" });
  const limited = { userId, clientId: registered, scope: "", organizationId: orgId, issuedAt: ISSUED_AT };
  await nextMillisecond();
  await connectOAuthClient(db(), limited, { requiresConsent: false });
  await nextMillisecond();
  await connect(await givenUser(em()), published);
  const [first, second, ...others] = await listOf(userId);
  expect(others).toEqual([]);
  expect(first).toMatchObject({ name: "B", host: null, scopes: [], organization: expect.any(String) });
  expect(second).toMatchObject({
    name: "A",
    host: "client.example.com",
    scopes: ["apps:read", "apps:deploy"],
    organization: null,
    connected_at: new Date(ISSUED_AT * 1000).toISOString(),
  });
  await touchOAuthConnection(db(), { ...limited, clientId: published, scope: "apps:read" });
  expect((await listOf(userId)).map(({ name, scopes }) => [name, scopes])).toEqual([
    ["A", ["apps:read"]],
    ["B", []],
  ]);
});

test("a client that connects again keeps the time of its connection and gets the new scope", async () => {
  const [userId, clientId] = [await givenUser(em()), await givenOAuthClient(em())];
  await connect(userId, clientId);
  await connect(userId, clientId, { scope: "apps:deploy", at: ISSUED_AT + 30 });
  const connections = await listOf(userId);
  expect(connections).toMatchObject([
    { scopes: ["apps:deploy"], connected_at: new Date(ISSUED_AT * 1000).toISOString() },
  ]);
  expect(Date.parse(connections[0]!.last_used_at)).toBeGreaterThan((ISSUED_AT + 30) * 1000);
});

test("the use of a token connects no client that was revoked, and changes no other connection", async () => {
  const [userId, clientId] = [await givenUser(em()), await givenOAuthClient(em())];
  const access = { userId, clientId, scope: "apps:deploy", organizationId: null, issuedAt: ISSUED_AT };
  await touchOAuthConnection(db(), access);
  expect(await listOf(userId)).toEqual([]);
  const [otherUser, otherClient] = [await givenUser(em()), await givenOAuthClient(em())];
  await connect(otherUser, clientId);
  await connect(userId, otherClient);
  await touchOAuthConnection(db(), access);
  for (const id of [userId, otherUser]) expect(await listOf(id)).toMatchObject([{ scopes: ["apps:read"] }]);
});

test("a revocation ends one connection with its consent and refresh tokens, and is announced", async () => {
  const [userId, otherUser] = [await givenUser(em()), await givenUser(em())];
  const [clientId, otherClient] = [await givenOAuthClient(em()), await givenOAuthClient(em())];
  const pairs = [
    [userId, clientId],
    [userId, otherClient],
    [otherUser, clientId],
  ] as const;
  const tokens: string[] = [];
  for (const [user, client] of pairs) {
    await givenConsent(em(), user, client);
    await connect(user, client);
    tokens.push(await givenRefreshToken(em(), user, client));
  }
  const revokedEarlier = await givenRefreshToken(em(), userId, clientId, new Date(0));
  const announced: string[] = [];
  const accessChanges = { announce: (id: string) => void announced.push(id), listen: () => undefined };
  const deps = { em: em(), accessChanges: accessChanges as never };
  const connections = await listOf(userId);
  const rows = await em().execute<{ id: string }[]>(CONNECTION, [userId, clientId]);
  const { id } = rows[0]!;
  await expect(revokeOAuthConnection(deps, signedIn(otherUser), id)).rejects.toMatchObject({ code: "not_found" });
  for (const caller of [signedIn(userId, "personal_access_token"), signedIn(null)])
    await expect(revokeOAuthConnection(deps, caller, id)).rejects.toMatchObject({ code: "forbidden" });
  expect(announced).toEqual([]);
  expect(await revokeOAuthConnection(deps, signedIn(userId), id)).toEqual({ status: "revoked" });
  expect(announced).toEqual([userId]);
  expect(await listOf(userId)).toEqual(connections.filter((connection) => connection.id !== id));
  expect(await validTokens(tokens)).toEqual(tokens.slice(1));
  const [earlier] = await em().execute<{ at: string }[]>(REVOKED, [revokedEarlier]);
  expect(new Date(earlier!.at).getTime()).toBe(0);
  const consents = await em().execute<{ count: string }[]>(CONSENTS, [userId, otherUser]);
  expect(Number(consents[0]?.count)).toBe(2);
  await expect(revokeOAuthConnection(deps, signedIn(userId), id)).rejects.toMatchObject({ code: "not_found" });
});

test("the connections and refresh tokens of one user can be revoked together", async () => {
  const [userId, otherUser, clientId] = [await givenUser(em()), await givenUser(em()), await givenOAuthClient(em())];
  for (const user of [userId, otherUser]) await connect(user, clientId);
  const own = await givenRefreshToken(em(), userId, clientId);
  const foreign = await givenRefreshToken(em(), otherUser, clientId);
  const revokedEarlier = await givenRefreshToken(em(), userId, clientId, new Date(0));
  await revokeRefreshTokens(db(), userId);
  expect(await validTokens([own, foreign])).toEqual([foreign]);
  const [earlier] = await em().execute<{ at: string }[]>(REVOKED, [revokedEarlier]);
  expect(new Date(earlier!.at).getTime()).toBe(0);
  expect([await listOf(userId), (await listOf(otherUser)).length]).toEqual([[], 1]);
});

test("the last use of a client is stored at the first use, and then at most once per day", async () => {
  const [clientId, other] = [await givenOAuthClient(em()), await givenOAuthClient(em())];
  const lastUse = async (id: string) => {
    const [row] = await em().execute<{ at: Date | null }[]>(LAST_USE, [id]);
    return row!.at;
  };
  const setLastUse = (agoMs: number) =>
    em().execute(`update auth."oauthClient" set "lastUsedAt" = ? where "clientId" = ?`, [
      new Date(Date.now() - agoMs),
      clientId,
    ]);
  await touchOAuthClient(db(), clientId);
  expect([(await lastUse(clientId)) !== null, await lastUse(other)]).toEqual([true, null]);
  await setLastUse(DAY_MS / 2);
  const recent = await lastUse(clientId);
  await touchOAuthClient(db(), clientId);
  expect(await lastUse(clientId)).toEqual(recent);
  await setLastUse(2 * DAY_MS);
  const old = await lastUse(clientId);
  await touchOAuthClient(db(), clientId);
  expect(await lastUse(clientId)).not.toEqual(old);
});
