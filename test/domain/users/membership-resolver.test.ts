import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { type AccessTokenUser, MembershipResolver } from "../../../domain/users/membership-resolver.ts";
import { connectOAuthClient } from "../../../domain/users/oauth-connections.ts";
import {
  givenMember,
  givenOAuthClient,
  givenPassword,
  givenSession,
  givenUser,
} from "../../support/identity/given-user.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const createResolver = () => new MembershipResolver(queryBuilderOf(em()));
const NOW_SECONDS = Math.floor(Date.now() / 1000);

function tokenOf(userId: string, token: Partial<AccessTokenUser> = {}): AccessTokenUser {
  const unlimited = { sessionId: null, orgId: null, issuedOrgId: null, clientId: null };
  return { ...unlimited, userId, issuedAt: NOW_SECONDS, scope: "everything", ...token };
}

const resolve = (userId: string, token?: Partial<AccessTokenUser>) =>
  createResolver().resolveCaller(tokenOf(userId, token));

/** A user who is an admin of their first organization and a member of the second. */
async function givenMemberOfTwo(): Promise<{ userId: string; first: string; second: string }> {
  const [first, second] = [await service().tenant(), await service().tenant()].map(({ org_id: id }) => id);
  const userId = await givenUser(em());
  await givenMember(em(), { orgId: second!, userId, role: "member", at: new Date(2) });
  await givenMember(em(), { orgId: first!, userId, role: "member,admin", at: new Date(1) });
  return { userId, first: first!, second: second! };
}

test("a token acts in the organization it was issued in, else in the user's first one", async () => {
  const { userId, first, second } = await givenMemberOfTwo();
  const credential = { kind: "access_token", id: userId };
  const unlimited = { userId, scope: "read", credential, isLimitedToOrganization: false };
  expect(await resolve(userId, { scope: "read" })).toEqual({ ...unlimited, orgId: first, role: "admin" });
  expect(await resolve(userId, { scope: "read", issuedOrgId: second })).toEqual({
    ...unlimited,
    orgId: second,
    role: "member",
  });
  const limited = await resolve(userId, { scope: "read", orgId: second, issuedOrgId: first });
  expect(limited).toEqual({ ...unlimited, orgId: second, role: "member", isLimitedToOrganization: true });
});

test("a former member is rejected: by a limited token with no caller, by any other token with the reason", async () => {
  const { userId } = await givenMemberOfTwo();
  const elsewhere = (await service().tenant()).org_id;
  expect(await resolve(userId, { orgId: elsewhere })).toBeNull();
  await expect(resolve(userId, { issuedOrgId: elsewhere })).rejects.toMatchObject({
    code: "forbidden",
    message: expect.stringContaining("no longer a member"),
  });
  await expect(resolve(await givenUser(em()))).rejects.toMatchObject({
    code: "forbidden",
    message: expect.stringContaining("not a member of any organization"),
  });
  expect(await resolve(randomUUID())).toBeNull();
});

test("a token of a session is valid while the session exists and has not expired", async () => {
  const { userId, first } = await givenMemberOfTwo();
  const [current, expired] = [await givenSession(em(), userId), await givenSession(em(), userId, -1000)];
  const ofOther = await givenSession(em(), await givenUser(em()));
  expect(await resolve(userId, { sessionId: current })).toMatchObject({
    orgId: first,
    credential: { kind: "access_token", id: current },
  });
  for (const sessionId of [expired, ofOther, randomUUID()]) expect(await resolve(userId, { sessionId })).toBeNull();
});

test("a token of an OAuth client is valid while the client is connected, from the second of the connection on", async () => {
  const { userId } = await givenMemberOfTwo();
  const clientId = await givenOAuthClient(em());
  expect(await resolve(userId, { clientId })).toBeNull();
  const access = { userId, clientId, scope: "apps:read", organizationId: null, issuedAt: NOW_SECONDS - 60 };
  await connectOAuthClient(queryBuilderOf(em()), access, { requiresConsent: false });
  expect(await resolve(userId, { clientId, issuedAt: NOW_SECONDS - 60 })).not.toBeNull();
  expect(await resolve(userId, { clientId, issuedAt: NOW_SECONDS - 61 })).toBeNull();
  expect(await resolve(userId, { clientId: await givenOAuthClient(em()) })).toBeNull();
});

test("a token from before the current password is invalid", async () => {
  const second = (seconds: number, ms = 500) => new Date(seconds * 1000 + ms);
  const issuedAt = NOW_SECONDS - 60;
  const { userId: newUser } = await givenMemberOfTwo();
  await givenPassword(em(), newUser, second(issuedAt), second(issuedAt, 510));
  expect(await resolve(newUser, { issuedAt })).not.toBeNull();
  expect(await resolve(newUser, { issuedAt: issuedAt - 1 })).toBeNull();
  const { userId: changed } = await givenMemberOfTwo();
  await givenPassword(em(), changed, second(issuedAt, 400), second(issuedAt));
  const sessionId = await givenSession(em(), changed);
  expect(await resolve(changed, { issuedAt })).toBeNull();
  expect(await resolve(changed, { issuedAt, sessionId })).not.toBeNull();
  expect(await resolve(changed, { issuedAt: issuedAt - 1, sessionId })).toBeNull();
  expect(await resolve(changed, { issuedAt: issuedAt + 1 })).not.toBeNull();
});

test("a user's credential can select another of their organizations, unless it is limited to one", async () => {
  const { userId, first, second } = await givenMemberOfTwo();
  const caller = (kind: Caller["credential"]["kind"], more: Partial<Caller> = {}): Caller => {
    return { orgId: first, userId, role: "admin", scope: "read", credential: { kind, id: "one" }, ...more };
  };
  const resolver = createResolver();
  for (const kind of ["access_token", "personal_access_token"] as const) {
    expect(await resolver.switchOrganization(caller(kind), second)).toEqual(
      caller(kind, { orgId: second, role: "member" }),
    );
    expect(await resolver.switchOrganization(caller(kind), (await service().tenant()).org_id)).toBeNull();
    expect(await resolver.switchOrganization(caller(kind, { isLimitedToOrganization: true }), second)).toBeNull();
    expect(await resolver.switchOrganization(caller(kind, { userId: null }), second)).toBeNull();
    expect(await resolver.switchOrganization(caller(kind, { userId: randomUUID() }), second)).toBeNull();
  }
  for (const kind of ["api_key", "gateway_token", "operator"] as const)
    expect(await resolver.switchOrganization(caller(kind), second)).toBeNull();
  const limited = caller("api_key", { isLimitedToOrganization: true });
  expect(await resolver.switchOrganization(limited, first)).toBe(limited);
});

test("a state is cached for its user, session and client until the cache is cleared", async () => {
  const { userId, first } = await givenMemberOfTwo();
  const resolver = createResolver();
  const sessionId = await givenSession(em(), userId);
  expect((await resolver.resolveCaller(tokenOf(userId)))?.orgId).toBe(first);
  expect((await resolver.resolveCaller(tokenOf(userId, { sessionId })))?.orgId).toBe(first);
  expect(await resolver.resolveCaller(tokenOf(userId, { sessionId: randomUUID() }))).toBeNull();
  const clientId = await givenOAuthClient(em());
  const access = { userId, clientId, scope: "apps:read", organizationId: null, issuedAt: NOW_SECONDS };
  await connectOAuthClient(queryBuilderOf(em()), access, { requiresConsent: false });
  expect((await resolver.resolveCaller(tokenOf(userId, { clientId })))?.orgId).toBe(first);
  expect(await resolver.resolveCaller(tokenOf(userId, { clientId: randomUUID() }))).toBeNull();
  await em().execute(`delete from auth.member where "userId" = ?`, [userId]);
  expect((await resolver.resolveCaller(tokenOf(userId)))?.orgId).toBe(first);
  resolver.clear();
  await expect(resolver.resolveCaller(tokenOf(userId))).rejects.toThrow("not a member of any organization");
});

test("a cached session or client of a user says nothing about another one of the same user", async () => {
  const { userId } = await givenMemberOfTwo();
  const [current, expired] = [await givenSession(em(), userId), await givenSession(em(), userId, -1000)];
  const resolver = createResolver();
  expect(await resolver.resolveCaller(tokenOf(userId, { sessionId: current }))).not.toBeNull();
  expect(await resolver.resolveCaller(tokenOf(userId, { sessionId: expired }))).toBeNull();
  const client = await givenOAuthClient(em());
  expect(await resolver.resolveCaller(tokenOf(userId))).not.toBeNull();
  expect(await resolver.resolveCaller(tokenOf(userId, { clientId: client }))).toBeNull();
});
