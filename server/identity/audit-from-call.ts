import type { NewAuditEvent } from "../../domain/audit/record-event.ts";
import { findRole } from "../../domain/users/memberships.ts";
import type { Db } from "../../domain/database-types.ts";
import { isUuid } from "../../domain/shared/ids.ts";
import {
  type AuthCall,
  type AuthSession,
  type Fields,
  readClientAddress,
  readFields,
  readSignInAttempt,
  SIGN_IN,
} from "./auth-call.ts";
import { isErrorResponse } from "./is-error-response.ts";

/** The fields that name the target of a call, in the order of preference. */
const TARGET_FIELDS = ["invitationId", "organizationId"];
/** Calls about a member. Their response contains the member. */
const MEMBER_PATHS = ["/organization/remove-member", "/organization/update-member-role"];
const INVITE = "/organization/invite-member";

/**
 * Creates the audit event for a call of the identity provider.
 *
 * @param previousSession - the session of the request
 */
export async function auditEventFromCall(
  db: Db,
  call: AuthCall,
  previousSession: AuthSession | null,
): Promise<NewAuditEvent> {
  const { path, body, headers, context } = call;
  // A failed sign-in has no session. An earlier session belongs to the last user of the browser, who may be another one.
  const session = context.newSession ?? (path === SIGN_IN ? null : previousSession);
  // Ids only: any other field may contain a secret, or help to find one.
  const fields = isOrganizationPath(path) ? readFields(body) : {};
  const userId = session?.user.id ?? (path === SIGN_IN ? await findUserId(db, readSignInAttempt(call).email) : null);
  return {
    action: path.slice(1),
    outcome: isErrorResponse(context.returned) ? "refused" : "done",
    orgId: userId === null ? null : await findOrgId(db, call, session, userId),
    userId,
    credential: session === null ? null : { kind: "session", id: session.session.id },
    address: readClientAddress(headers),
    ...findTarget(call, fields),
  };
}

/** A member is recorded as the user, because a membership that has ended no longer says whose it was. */
function findTarget({ path, context }: AuthCall, fields: Fields): Pick<NewAuditEvent, "target" | "targetKind"> {
  const returned = readFields(context.returned);
  const { id: invitationId } = returned;
  if (path === INVITE && isUuid(invitationId)) return { target: invitationId, targetKind: "invitation" };
  const { userId } = { ...returned, ...readFields(returned["member"]) };
  if (MEMBER_PATHS.includes(path) && isUuid(userId)) return { target: userId, targetKind: "user" };
  return { target: TARGET_FIELDS.map((name) => fields[name]).find(isUuid) ?? null };
}

/**
 * The organization that an event belongs to. An id in the request counts only if the user is a member of that
 * organization: otherwise anyone could write to the audit log of another organization.
 */
async function findOrgId(
  db: Db,
  { path, body, context }: AuthCall,
  session: AuthSession | null,
  userId: string,
): Promise<string | null> {
  const orgIdOfResponse = isOrganizationPath(path) ? readOrgId(context.returned) : null;
  if (orgIdOfResponse !== null) return orgIdOfResponse;
  const orgIdOfRequest = isOrganizationPath(path) ? readFields(body)["organizationId"] : null;
  for (const orgId of [orgIdOfRequest, session?.session.activeOrganizationId].filter(isUuid))
    if ((await findRole(db, orgId, userId)) !== null) return orgId;
  return null;
}

/** The organization of a response, which is a member, an invitation or the organization itself. */
function readOrgId(returned: unknown): string | null {
  const { member, invitation, organizationId, id, slug } = readFields(returned);
  const ids = [readFields(member)["organizationId"], readFields(invitation)["organizationId"], organizationId];
  return [...ids, slug === undefined ? null : id].find(isUuid) ?? null;
}

function isOrganizationPath(path: string): boolean {
  return path.startsWith("/organization/");
}

async function findUserId(db: Db, email: string): Promise<string | null> {
  const user = await db
    .selectFrom("auth.user")
    .select("id")
    .where("email", "=", email.toLowerCase())
    .executeTakeFirst();
  return user?.id ?? null;
}
