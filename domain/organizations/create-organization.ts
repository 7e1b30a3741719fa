import { randomUUID } from "node:crypto";
import { ServiceError } from "../shared/errors.ts";
import { queryBuilderOf, type Db, type SqlTransaction } from "../database-types.ts";
import { mintToken } from "../tokens/mint-token.ts";
import { FIRST_OWNER_EMAIL, placeholderOwnerEmail } from "./reserved-email.ts";

const MAX_NAME_LENGTH = 100;

/** The names of the tokens that are created with an organization. */
export const FIRST_TOKEN_NAMES = { api_key: "First API key", personal_access_token: "First personal access token" };

export interface NewOrganization {
  name: string;
  /** The email address of the invited owner; `null` for the first organization, which the first user claims. */
  email: string | null;
  plan: string;
}

/** The result for the operator. It contains the only copies of the tokens. */
export interface CreatedOrganization {
  org_id: string;
  /** The placeholder owner. */
  user_id: string;
  api_key: string;
  personal_access_token: string;
}

/**
 * Creates an organization with a placeholder owner and its first tokens, in the transaction of `em`. The placeholder
 * cannot sign in. The user who claims the organization receives everything that belongs to the placeholder.
 *
 * @throws {ServiceError} `invalid` for an invalid name
 */
export async function createOrganization(
  em: SqlTransaction,
  { name, email, plan }: NewOrganization,
): Promise<CreatedOrganization> {
  const orgId = randomUUID();
  const userId = randomUUID();
  const db = queryBuilderOf(em);
  const ownerEmail = email === null ? FIRST_OWNER_EMAIL : placeholderOwnerEmail(orgId);
  const organization = { id: orgId, name: validateName(name), plan, ownerId: userId };
  await insertUser(db, { id: userId, name: "Owner", email: ownerEmail });
  await insertOrganization(db, organization);
  const apiKey = mintToken(em, { orgId, userId, kind: "api_key", name: FIRST_TOKEN_NAMES.api_key });
  const personalToken = mintToken(em, {
    orgId,
    userId,
    kind: "personal_access_token",
    name: FIRST_TOKEN_NAMES.personal_access_token,
  });
  await em.flush();
  return { org_id: orgId, user_id: userId, api_key: apiKey.token, personal_access_token: personalToken.token };
}

export async function insertUser(db: Db, user: { id: string; name: string; email: string }): Promise<void> {
  const now = new Date().toISOString();
  await db
    .insertInto("auth.user")
    .values({ ...user, emailVerified: false, createdAt: now, updatedAt: now })
    .execute();
}

/** Inserts an organization with its owner. `plan` is `null` for the default plan. */
export async function insertOrganization(
  db: Db,
  { id, name, plan, ownerId }: { id: string; name: string; plan: string | null; ownerId: string },
): Promise<void> {
  const createdAt = new Date().toISOString();
  await db.insertInto("auth.organization").values({ id, name, slug: id, createdAt }).execute();
  // A database trigger has inserted the row in `organizations`.
  if (plan !== null) await db.updateTable("organizations").set({ plan }).where("id", "=", id).execute();
  const owner = { id: randomUUID(), organizationId: id, userId: ownerId, role: "owner", createdAt };
  await db.insertInto("auth.member").values(owner).execute();
}

function validateName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > MAX_NAME_LENGTH)
    throw new ServiceError("invalid", `The name of an organization must have 1 to ${MAX_NAME_LENGTH} characters.`);
  return trimmed;
}
