import { APIError } from "better-auth/api";
import type { NewAuditEvent } from "../../domain/audit/record-event.ts";
import { roleIn } from "../../domain/users/memberships.ts";
import type { SignInAttempt } from "../../domain/users/limit-sign-ins.ts";
import type { Db } from "../../domain/database-types.ts";
import { isUuid } from "../../domain/shared/ids.ts";
import { clientNetwork } from "../http/client-address.ts";
import { fieldsOf } from "./fields.ts";
import { ADDRESS_HEADER } from "./options.ts";

/** The part of an endpoint's context that the hooks read. */
export interface Call {
  path: string;
  method?: string | undefined;
  body?: unknown;
  query?: unknown;
  headers?: Headers | undefined;
  context: {
    returned?: unknown;
    newSession?: Session | null;
  };
}

export interface Session {
  user: { id: string; email: string };
  session: { id: string; activeOrganizationId?: string | null };
}

export const SIGN_IN = "/sign-in/email";

export function attemptOf({ body, headers }: Call): SignInAttempt {
  const { email } = fieldsOf(body);
  return { address: clientNetwork(addressOf(headers)), email: typeof email === "string" ? email : "" };
}

/** The network address that a call comes from. */
export function addressOf(headers: Headers | undefined): string {
  return headers?.get(ADDRESS_HEADER) ?? "unknown";
}

const TARGETS = ["memberIdOrEmail", "memberId", "invitationId", "organizationId"];

/** Whether better-auth refuses; it throws redirects as errors too. */
export function isRefusal(returned: unknown): returned is APIError {
  return returned instanceof APIError && returned.statusCode >= 400;
}

/**
 * What the audit log says of a call.
 *
 * @param before - the session that the call came with
 */
export async function auditEventFromCall(db: Db, call: Call, before: Session | null): Promise<NewAuditEvent> {
  const { path, body, headers, context } = call;
  // Who signs in has not proven anything yet, whatever session the browser had before.
  const session = context.newSession ?? (path === SIGN_IN ? null : before);
  // Nothing but ids: what else a form holds may be a secret, or lead to one.
  const fields = isOfOrganization(path) ? fieldsOf(body) : {};
  const userId = session?.user.id ?? (path === SIGN_IN ? await userIdOf(db, attemptOf(call)) : null);
  return {
    action: path.slice(1),
    outcome: isRefusal(context.returned) ? "refused" : "done",
    orgId: userId === null ? null : await orgIdOf(db, call, session, userId),
    userId,
    credential: session === null ? null : { kind: "session", id: session.session.id },
    target: TARGETS.map((name) => fields[name]).find(isUuid) ?? null,
    address: addressOf(headers),
  };
}

/**
 * Where it happened. What a form says is believed only of an organization that the person belongs to, so that nobody
 * writes into the log of another one.
 */
async function orgIdOf(db: Db, call: Call, session: Session | null, userId: string): Promise<string | null> {
  const { path, body, context } = call;
  const answered = isOfOrganization(path) ? organizationIn(context.returned) : null;
  if (answered !== null) return answered;
  const named = isOfOrganization(path) ? fieldsOf(body)["organizationId"] : null;
  for (const orgId of [named, session?.session.activeOrganizationId].filter(isUuid))
    if ((await roleIn(db, orgId, userId)) !== null) return orgId;
  return null;
}

/** The organization that an answer is about: a member, an invitation, or the organization itself. */
function organizationIn(returned: unknown): string | null {
  const { member, invitation, organizationId, id, slug } = fieldsOf(returned);
  const ids = [fieldsOf(member)["organizationId"], fieldsOf(invitation)["organizationId"], organizationId];
  return [...ids, slug === undefined ? null : id].find(isUuid) ?? null;
}

function isOfOrganization(path: string): boolean {
  return path.startsWith("/organization/");
}

async function userIdOf(db: Db, { email }: SignInAttempt): Promise<string | null> {
  const people = db.selectFrom("auth.user").select("id");
  return (await people.where("email", "=", email.toLowerCase()).executeTakeFirst())?.id ?? null;
}
