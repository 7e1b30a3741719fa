import type { Db } from "../database-types.ts";
import type { Caller, CredentialKind } from "../shared/caller.ts";
import { highestRole, type Role } from "../shared/roles.ts";
import type { Scope } from "../shared/scopes.ts";

export interface AccountOrganization {
  id: string;
  name: string;
  role: Role;
}

/** Who makes calls with a credential, and where. */
export interface Account {
  /** `null` for a credential that belongs to no user, such as an API key. */
  user: { id: string; name: string; email: string } | null;
  /** The organization of this call. */
  organization: AccountOrganization;
  /** The organizations in which the credential is valid, the first joined first. */
  organizations: AccountOrganization[];
  credential: CredentialKind;
  scope: Scope | null;
}

export interface GetAccountDeps {
  db: Db;
}

const OF_USERS: readonly CredentialKind[] = ["access_token", "personal_access_token"];

/** Returns what a caller may know about their own credential. */
export async function getAccount({ db }: GetAccountDeps, caller: Caller): Promise<Account> {
  const { orgId, role, scope, credential, isLimitedToOrganization } = caller;
  const userId = OF_USERS.includes(credential.kind) ? caller.userId : null;
  const { name } = await db
    .selectFrom("auth.organization")
    .select("name")
    .where("id", "=", orgId)
    .executeTakeFirstOrThrow();
  const organization = { id: orgId, name, role };
  const isLimited = userId === null || isLimitedToOrganization === true;
  return {
    user: userId === null ? null : await findUser(db, userId),
    organization,
    organizations: isLimited ? [organization] : await listOrganizations(db, userId),
    credential: credential.kind,
    scope,
  };
}

async function findUser(db: Db, userId: string): Promise<Account["user"]> {
  const user = await db
    .selectFrom("auth.user")
    .select(["id", "name", "email"])
    .where("id", "=", userId)
    .executeTakeFirst();
  return user ?? null;
}

async function listOrganizations(db: Db, userId: string): Promise<AccountOrganization[]> {
  const rows = await db
    .selectFrom("auth.member as member")
    .innerJoin("auth.organization as organization", "organization.id", "member.organizationId")
    .select(["organization.id", "organization.name", "member.role"])
    .where("member.userId", "=", userId)
    .orderBy("member.createdAt")
    .orderBy("member.id")
    .execute();
  return rows.map(({ id, name, role }) => ({ id, name, role: highestRole(role) }));
}
