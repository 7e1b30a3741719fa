import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";

export type Em = Pick<EntityManager, "fork"> & { execute(sql: string, params?: unknown[]): Promise<unknown> };

/** Inserts a user without a password, who is a member of no organization. Returns the id. */
export async function givenUser(em: Em, email = `${randomUUID()}@example.com`): Promise<string> {
  const id = randomUUID();
  await em.execute(`insert into auth."user" (id, name, email, "emailVerified") values (?, 'Ada', ?, false)`, [
    id,
    email,
  ]);
  return id;
}

export async function givenMember(em: Em, member: { orgId: string; userId: string; role: string; at?: Date }) {
  const { orgId, userId, role, at = new Date() } = member;
  await em.execute(
    `insert into auth.member (id, "organizationId", "userId", role, "createdAt") values (?, ?, ?, ?, ?)`,
    [randomUUID(), orgId, userId, role, at],
  );
}

/** Inserts a pending invitation that expires after the given time. Returns the id. */
export async function givenInvitation(
  em: Em,
  invitation: { orgId: string; inviterId: string; email: string; role?: string; lastsMs?: number; status?: string },
): Promise<string> {
  const { orgId, inviterId, email, role = "member", lastsMs = 3_600_000, status = "pending" } = invitation;
  const id = randomUUID();
  await em.execute(
    `insert into auth.invitation (id, "organizationId", email, role, status, "expiresAt", "inviterId")
     values (?, ?, ?, ?, ?, ?, ?)`,
    [id, orgId, email, role, status, new Date(Date.now() + lastsMs), inviterId],
  );
  return id;
}

/** Inserts a session that lasts for the given time. Returns the id. */
export async function givenSession(em: Em, userId: string, lastsMs = 3_600_000, network: string | null = null) {
  const id = randomUUID();
  await em.execute(
    `insert into auth.session (id, "expiresAt", token, "updatedAt", "userId", "ipAddress") values (?, ?, ?, now(), ?, ?)`,
    [id, new Date(Date.now() + lastsMs), randomUUID(), userId, network],
  );
  return id;
}

/** Inserts a password that was set for the first time at `createdAt` and last at `updatedAt`. */
export async function givenPassword(em: Em, userId: string, createdAt: Date, updatedAt: Date): Promise<void> {
  await em.execute(
    `insert into auth.account ("accountId", "providerId", "userId", "createdAt", "updatedAt") values (?, 'credential', ?, ?, ?)`,
    [userId, userId, createdAt, updatedAt],
  );
}

/** Inserts an OAuth client that asks for consent, unless `skipsConsent`. Returns its client id. */
export async function givenOAuthClient(
  em: Em,
  options: { clientId?: string; skipsConsent?: boolean; name?: string } = {},
): Promise<string> {
  const { clientId = randomUUID(), skipsConsent = false, name = "Client" } = options;
  await em.execute(
    `insert into auth."oauthClient" ("clientId", name, "skipConsent", "redirectUris") values (?, ?, ?, '[]')`,
    [clientId, name, skipsConsent],
  );
  return clientId;
}

/** Inserts a consent. `organization` is the id of an organization, or `every`. */
export async function givenConsent(em: Em, userId: string, clientId: string, organization: string | null = "every") {
  await em.execute(
    `insert into auth."oauthConsent" ("clientId", "userId", "referenceId", scopes, "createdAt", "updatedAt")
     values (?, ?, ?, '[]', now(), now())`,
    [clientId, userId, organization],
  );
}

/** Inserts a refresh token. Returns its id. */
export async function givenRefreshToken(em: Em, userId: string, clientId: string, revoked: Date | null = null) {
  const id = randomUUID();
  await em.execute(
    `insert into auth."oauthRefreshToken" (id, token, "clientId", "userId", "expiresAt", "createdAt", revoked, scopes)
     values (?, ?, ?, ?, now() + interval '1 day', now(), ?, '[]')`,
    [id, randomUUID(), clientId, userId, revoked],
  );
  return id;
}
