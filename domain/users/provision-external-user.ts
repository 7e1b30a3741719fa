import { createHash, randomUUID } from "node:crypto";
import { mayBeFirst } from "../organizations/first-run.ts";
import { addOrganization, addUser } from "../organizations/create-organization.ts";
import { claimFirstOrganization } from "../organizations/claim-organization.ts";
import type { Db } from "../database-types.ts";

export interface ExternalUser {
  issuer: string;
  subject: string;
  /** What to call them; nothing else of what a token says about a person is believed. */
  name: string;
}

/** The person behind an issuer and a subject, or `null` when they were never seen. */
export async function findExternalUser(db: Db, { issuer, subject }: ExternalUser): Promise<string | null> {
  const row = await db
    .selectFrom("auth.account")
    .select("userId")
    .where("providerId", "=", providerOf(issuer))
    .where("accountId", "=", subject)
    .executeTakeFirst();
  return row?.userId ?? null;
}

/**
 * Makes a person of an issuer and a subject, with an organization to work in: the first one of the installation while it
 * waits for its owner, else one of their own. Run it in a transaction; of two at once, one fails on the unique account.
 */
export async function provisionExternalUser(db: Db, { issuer, subject, name }: ExternalUser): Promise<string> {
  const userId = randomUUID();
  // Never the address that the token names: it may be somebody else's, and nobody has verified it here.
  const email = `${createHash("sha256").update(`${issuer}\n${subject}`).digest("hex").slice(0, 40)}@oidc.invalid`;
  const now = new Date().toISOString();
  // Whoever signs up at the same time must not be taken for the first person too.
  await mayBeFirst(db);
  await addUser(db, { id: userId, name, email });
  const account = { id: randomUUID(), accountId: subject, providerId: providerOf(issuer), userId };
  await db
    .insertInto("auth.account")
    .values({ ...account, createdAt: now, updatedAt: now })
    .execute();
  const claimed = await claimFirstOrganization(db, userId);
  if (claimed === null)
    await addOrganization(db, { id: randomUUID(), name: `${name}'s organization`, plan: null, ownerId: userId });
  return userId;
}

function providerOf(issuer: string): string {
  return `oidc:${issuer}`;
}
