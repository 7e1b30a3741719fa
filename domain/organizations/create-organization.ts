import { randomUUID } from "node:crypto";
import { ServiceError } from "../shared/errors.ts";
import { queryBuilderOf, type Db, type SqlTransaction } from "../database-types.ts";
import { mintToken } from "../tokens/mint-token.ts";
import { FIRST_OWNER_EMAIL, placeholderEmail } from "./placeholder-owner.ts";

export interface NewOrganization {
  name: string;
  /** Who is invited to own it; `null` leaves it to the first person who signs up. */
  email: string | null;
  plan: string;
}

/** What the founder gets to see once. */
export interface CreatedOrganization {
  org_id: string;
  user_id: string;
  api_key: string;
  personal_access_token: string;
}

/**
 * Creates an organization with a placeholder for its owner and the first tokens, in the transaction of `em`. The
 * placeholder cannot sign in; the person who takes its place is given all that is the placeholder's.
 *
 * @throws {ServiceError} `invalid` for a name that is not one
 */
export async function createOrganization(em: SqlTransaction, founding: NewOrganization): Promise<CreatedOrganization> {
  const name = checkedName(founding.name);
  const orgId = randomUUID();
  const userId = randomUUID();
  const db = queryBuilderOf(em);
  const email = founding.email === null ? FIRST_OWNER_EMAIL : placeholderEmail(orgId);
  await addUser(db, { id: userId, name: "Owner", email });
  await addOrganization(db, { id: orgId, name, plan: founding.plan, ownerId: userId });
  const shared = { orgId, userId };
  const apiKey = mintToken(em, { ...shared, kind: "api_key", name: "First API key" });
  const personal = mintToken(em, { ...shared, kind: "personal_access_token", name: "First personal access token" });
  await em.flush();
  return { org_id: orgId, user_id: userId, api_key: apiKey.token, personal_access_token: personal.token };
}

export async function addUser(db: Db, person: { id: string; name: string; email: string }): Promise<void> {
  const now = new Date().toISOString();
  await db
    .insertInto("auth.user")
    .values({ ...person, emailVerified: false, createdAt: now, updatedAt: now })
    .execute();
}

/** Adds an organization with its owner. `plan` is `null` for the default one. */
export async function addOrganization(
  db: Db,
  { id, name, plan, ownerId }: { id: string; name: string; plan: string | null; ownerId: string },
): Promise<void> {
  const createdAt = new Date().toISOString();
  await db.insertInto("auth.organization").values({ id, name, slug: id, createdAt }).execute();
  // The record of ours came with it, by the trigger.
  if (plan !== null) await db.updateTable("organizations").set({ plan }).where("id", "=", id).execute();
  const member = { id: randomUUID(), organizationId: id, userId: ownerId, role: "owner", createdAt };
  await db.insertInto("auth.member").values(member).execute();
}

function checkedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > 100)
    throw new ServiceError("invalid", "The name of an organization has 1 to 100 characters.");
  return trimmed;
}
