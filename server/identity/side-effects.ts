import { claimFirstOrganization, claimOrganization } from "../../domain/organizations/claim-organization.ts";
import { revokeOrphanedTokens } from "../../domain/tokens/revoke-orphaned-tokens.ts";
import { cancelOrphanedInvitations } from "../../domain/users/cancel-orphaned-invitations.ts";
import { revokeRefreshTokens } from "../../domain/users/revoke-refresh-tokens.ts";
import { touchOAuthClient } from "../../domain/users/touch-oauth-client.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import type { Orm } from "../database/orm.ts";
import { inTransaction } from "../../domain/shared/transaction.ts";
import type { AuthCall, AuthSession } from "./auth-call.ts";
import { replaceEarlierConsents } from "./consented-organization.ts";
import { currentTransaction } from "./current-transaction.ts";
import { recordConnection } from "./record-connection.ts";
import { readTokenRequestClient } from "./token-request-client.ts";

const TOKEN = "/oauth2/token";
const CONSENT = "/oauth2/consent";
const CHANGE_PASSWORD = "/change-password";
const ACCEPT_INVITATION = "/organization/accept-invitation";
/** Endpoints that remove a member or change a role. */
const CHANGES_MEMBERS = ["remove-member", "leave", "update-member-role"].map((name) => `/organization/${name}`);

/** Applies the consequences of a successful call in the tables of the service. */
export async function applySideEffects(orm: Orm, call: AuthCall, session: AuthSession | null): Promise<void> {
  const { path, context } = call;
  const db = queryBuilderOf(orm.em.fork());
  const clientId = path === TOKEN ? readTokenRequestClient(call) : null;
  if (clientId !== null) await touchOAuthClient(db, clientId);
  if (path === TOKEN) await recordConnection(db, call);
  if (path === ACCEPT_INVITATION) await claimInvitedOrganization(orm, context.returned);
  if (path === CONSENT && session !== null) await replaceEarlierConsents(db, session.user.id);
  if (path === CHANGE_PASSWORD && session !== null) await revokeRefreshTokens(db, session.user.id);
  if (!CHANGES_MEMBERS.includes(path)) return;
  await revokeOrphanedTokens(db);
  await cancelOrphanedInvitations(db);
}

/** A user who accepts an invitation as owner replaces the placeholder owner of the organization. */
async function claimInvitedOrganization(orm: Orm, returned: unknown): Promise<void> {
  const { member } = returned as { member?: { organizationId: string; userId: string; role: string } };
  if (member?.role !== "owner") return;
  const { organizationId, userId } = member;
  await inTransaction(orm.em, (em) => claimOrganization(queryBuilderOf(em), organizationId, userId));
}

/** Gives a new user the first organization while it has a placeholder owner, in the transaction that creates the user. */
export async function claimFirstOrganizationOnSignUp(userId: string): Promise<void> {
  const db = currentTransaction();
  if (db !== undefined) await claimFirstOrganization(db, userId);
}
