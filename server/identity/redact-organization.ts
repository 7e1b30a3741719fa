import { APIError } from "better-auth/api";
import { highestRole, reachesRole } from "../../domain/shared/caller.ts";
import { roleIn } from "../../domain/users/memberships.ts";
import type { Db } from "../../domain/database-types.ts";
import { type Call, isRefusal, type Session } from "./audit-from-call.ts";

interface Invitation {
  role: string | null;
  organizationId: string;
}

const LIST = "/organization/list-invitations";
const WHOLE = ["/organization/get-full-organization", "/organization/get-organization"];

/**
 * better-auth would tell a stranger that an organization exists.
 *
 * @throws {APIError} what better-auth says of one that does not
 */
export async function refuseForeign(db: Db, { path, query }: Call, session: Session | null): Promise<void> {
  if (!WHOLE.includes(path) || session === null) return;
  const { organizationId: id, organizationSlug: slug } = (query ?? {}) as Record<string, string | undefined>;
  const named = slug ?? id;
  if (named === undefined) return;
  const found = await db
    .selectFrom("auth.organization as organization")
    .innerJoin("auth.member as member", "member.organizationId", "organization.id")
    .select("organization.id")
    .where("member.userId", "=", session.user.id)
    .where(slug === undefined ? "organization.id" : "organization.slug", "=", named)
    .executeTakeFirst();
  if (found === undefined)
    throw new APIError("BAD_REQUEST", { message: "Organization not found", code: "ORGANIZATION_NOT_FOUND" });
}

/**
 * What a person may see of what better-auth is about to answer. An invitation is good for whoever knows its id, because
 * addresses are not verified: a person sees those to roles that they could give themselves.
 *
 * @returns the answer to send instead, or `undefined` when it may go as it is
 */
export async function redactOrganization(
  db: Db,
  { path, context }: Call,
  session: Session | null,
): Promise<object | undefined> {
  const { returned } = context;
  if (session === null || isRefusal(returned)) return undefined;
  if (path === LIST) return seen(db, returned as Invitation[], session.user.id);
  const { invitations } = (returned ?? {}) as { invitations?: Invitation[] };
  if (!WHOLE.includes(path) || !Array.isArray(invitations)) return undefined;
  return { ...(returned as object), invitations: await seen(db, invitations, session.user.id) };
}

async function seen(db: Db, invitations: Invitation[], userId: string): Promise<Invitation[]> {
  const [first] = invitations;
  const role = first === undefined ? null : await roleIn(db, first.organizationId, userId);
  if (role === null || !reachesRole(role, "admin")) return [];
  return invitations.filter((invitation) => reachesRole(role, highestRole(invitation.role ?? "")));
}
