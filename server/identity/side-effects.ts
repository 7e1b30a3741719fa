import { decodeJwt } from "jose";
import { type Db, queryBuilderOf } from "../../domain/database-types.ts";
import { claimFirstOrganization, claimOrganization } from "../../domain/organizations/claim-organization.ts";
import { inTransaction } from "../../domain/shared/transaction.ts";
import { revokeOrphanedTokens } from "../../domain/tokens/revoke-orphaned-tokens.ts";
import { cancelOrphanedInvitations } from "../../domain/users/cancel-orphaned-invitations.ts";
import { connectOAuthClient, type GrantedAccess, touchOAuthConnection } from "../../domain/users/oauth-connections.ts";
import { revokeRefreshTokens } from "../../domain/users/revoke-refresh-tokens.ts";
import { touchOAuthClient } from "../../domain/users/touch-oauth-client.ts";
import type { Orm } from "../database/orm.ts";
import { type AuthCall, type AuthSession, readFields } from "./auth-call.ts";
import { replaceEarlierConsents } from "./consented-organization.ts";
import { currentTransaction } from "./current-transaction.ts";

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

const AUTHORIZATION_CODE = "authorization_code";
const REFRESH_TOKEN = "refresh_token";

/** Records which client the token endpoint has issued an access token to, and for whom. */
export async function recordConnection(db: Db, { body, context }: AuthCall): Promise<void> {
  const access = readGrantedAccess(readFields(context.returned)["access_token"]);
  if (access === null) return;
  const grantType = readFields(body)["grant_type"];
  if (grantType === REFRESH_TOKEN) return touchOAuthConnection(db, access);
  await connectOAuthClient(db, access, { requiresConsent: grantType === AUTHORIZATION_CODE });
}

/** Reads the claims of a token that better-auth has just signed; `null` for a token that no API of the service accepts. */
function readGrantedAccess(token: unknown): GrantedAccess | null {
  if (typeof token !== "string" || token.split(".").length !== 3) return null;
  const { sub, iat, client_id: clientId, scope, org_id: orgId } = decodeJwt(token);
  if (sub === undefined || iat === undefined || typeof clientId !== "string") return null;
  return {
    userId: sub,
    clientId,
    scope: typeof scope === "string" ? scope : "",
    organizationId: typeof orgId === "string" ? orgId : null,
    issuedAt: iat,
  };
}

/**
 * The id of the OAuth client that sent a token request, from any of the three places where it may be. It is trustworthy
 * only after the token endpoint has accepted the request.
 */
export function readTokenRequestClient({ body, headers }: Pick<AuthCall, "body" | "headers">): string | null {
  const { client_id: id, client_assertion: assertion } = readFields(body);
  if (typeof id === "string") return id;
  if (typeof assertion === "string") return readSubject(assertion);
  const [, basic] = /^basic +(\S+) *$/i.exec(headers?.get("authorization") ?? "") ?? [];
  return basic === undefined ? null : decodeUserName(Buffer.from(basic, "base64").toString());
}

function readSubject(jwt: string): string | null {
  try {
    const claims = JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString()) as { sub?: unknown };
    return typeof claims.sub === "string" ? claims.sub : null;
  } catch {
    return null;
  }
}

/** Client id and secret are form-encoded before they are joined with a colon (RFC 6749, section 2.3.1). */
function decodeUserName(credentials: string): string | null {
  return new URLSearchParams(`name=${credentials.split(":", 1)[0]}`).get("name");
}
