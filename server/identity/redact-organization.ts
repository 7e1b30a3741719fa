import { APIError } from "better-auth/api";
import type { Db } from "../../domain/database-types.ts";
import { highestRole, reachesRole } from "../../domain/shared/roles.ts";
import { findRole } from "../../domain/users/memberships.ts";
import type { AuthCall, AuthSession } from "./auth-call.ts";
import { isErrorResponse } from "./is-error-response.ts";

interface OrganizationInvitation extends Invitation {
  role: string | null;
  organizationId: string;
}

const LIST_INVITATIONS = "/organization/list-invitations";
const GET_ORGANIZATION = ["/organization/get-full-organization", "/organization/get-organization"];

/**
 * Rejects a request for an organization that the user is not a member of, before better-auth reveals that it exists.
 *
 * @throws {APIError} the same error that better-auth returns for an unknown organization
 */
export async function rejectForeignOrganization(
  db: Db,
  { path, query }: AuthCall,
  session: AuthSession | null,
): Promise<void> {
  if (!GET_ORGANIZATION.includes(path) || session === null) return;
  const { organizationId: id, organizationSlug: slug } = (query ?? {}) as Record<string, string | undefined>;
  const idOrSlug = slug ?? id;
  if (idOrSlug === undefined) return;
  const found = await db
    .selectFrom("auth.organization as organization")
    .innerJoin("auth.member as member", "member.organizationId", "organization.id")
    .select("organization.id")
    .where("member.userId", "=", session.user.id)
    .where(slug === undefined ? "organization.id" : "organization.slug", "=", idOrSlug)
    .executeTakeFirst();
  if (found === undefined)
    throw new APIError("BAD_REQUEST", { message: "Organization not found", code: "ORGANIZATION_NOT_FOUND" });
}

export interface RedactionDeps {
  db: Db;
  publicUrl: string;
}

/**
 * Removes invitations that the user may not see from a response of better-auth, and adds the link of each to the others.
 * Email addresses are not verified, so anyone who knows the id of an invitation can accept it. A user therefore sees only
 * invitations to roles that they could assign themselves.
 *
 * @returns the response to send instead, or `undefined` to send the original
 */
export async function redactOrganization(
  deps: RedactionDeps,
  { path, context }: AuthCall,
  session: AuthSession | null,
): Promise<object | undefined> {
  const { returned } = context;
  if (session === null || isErrorResponse(returned)) return undefined;
  if (path === LIST_INVITATIONS) return filterInvitations(deps, returned as OrganizationInvitation[], session.user.id);
  const { invitations } = (returned ?? {}) as { invitations?: OrganizationInvitation[] };
  if (!GET_ORGANIZATION.includes(path) || !Array.isArray(invitations)) return undefined;
  return { ...(returned as object), invitations: await filterInvitations(deps, invitations, session.user.id) };
}

async function filterInvitations(
  { db, publicUrl }: RedactionDeps,
  invitations: OrganizationInvitation[],
  userId: string,
): Promise<object[]> {
  const [first] = invitations;
  const role = first === undefined ? null : await findRole(db, first.organizationId, userId);
  if (role === null || !reachesRole(role, "admin")) return [];
  return invitations
    .filter((invitation) => reachesRole(role, highestRole(invitation.role ?? "")))
    .map((invitation) => ({ ...invitation, link: invitationLink(publicUrl, invitation) }));
}

interface Invitation {
  id: string;
  status: string;
  expiresAt: string | Date;
}

/**
 * The link with which the invited user accepts an invitation; `null` when it no longer works, because the invitation was
 * accepted, declined or canceled, or has expired. Whoever has the link can accept the invitation: never log or store it.
 */
export function invitationLink(publicUrl: string, { id, status, expiresAt }: Invitation): string | null {
  return status === "pending" && new Date(expiresAt) > new Date() ? `${publicUrl}/invitations/${id}` : null;
}
