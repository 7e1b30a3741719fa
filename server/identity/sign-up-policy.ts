import { getCurrentAdapter } from "@better-auth/core/context";
import type { BetterAuthOptions, GenericEndpointContext, User } from "better-auth";
import { APIError } from "better-auth/api";
import { FIRST_OWNER_EMAIL } from "../../domain/organizations/placeholder.ts";
import type { Config } from "../config.ts";

type Adapter = Awaited<ReturnType<typeof getCurrentAdapter>>;
type BeforeCreate = NonNullable<
  NonNullable<NonNullable<NonNullable<BetterAuthOptions["databaseHooks"]>["user"]>["create"]>["before"]
>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Addresses that nobody can have; the service gives them to placeholders and to people of other providers. */
const RESERVED = /[.@](invalid|localdomain)$/i;

/**
 * Decides who may sign up, whichever way they come: the first person of an installation always, later ones as `SIGN_UP`
 * says. Whoever signs up with a password shows the id of the invitation: the address alone proves nothing.
 */
export function signUpPolicy(signUp: Config["signUp"]): BeforeCreate {
  return async (user, context) => {
    if (RESERVED.test(user.email)) throw refused("This address cannot be used.");
    if (signUp === "open" || context === null) return;
    // The database has one connection on the embedded default, and a transaction holds it by now.
    const adapter = await getCurrentAdapter(context.context.adapter);
    if (await isUnclaimed(adapter)) return;
    if (signUp === "invite" && (await isInvited(adapter, user, context))) return;
    throw refused(signUp === "invite" ? "You need an invitation to sign up." : "Nobody can sign up here.");
  };
}

/**
 * Holds the same against a sign-up before better-auth looks whether the address is taken: who may not sign up learns
 * nothing about who has.
 */
export async function mayAskToSignUp(signUp: Config["signUp"], context: GenericEndpointContext): Promise<void> {
  const { email }: { email?: unknown } = context.body ?? {};
  if (typeof email === "string") await signUpPolicy(signUp)({ email, emailVerified: false } as never, context);
}

function refused(message: string): APIError {
  return new APIError("FORBIDDEN", { message, code: "SIGN_UP_REFUSED" });
}

async function isUnclaimed(adapter: Adapter): Promise<boolean> {
  const placeholder = await adapter.findOne({
    model: "user",
    where: [{ field: "email", value: FIRST_OWNER_EMAIL }],
  });
  return placeholder !== null || (await adapter.count({ model: "organization" })) === 0;
}

async function isInvited(
  adapter: Adapter,
  { email, emailVerified }: Partial<User>,
  { body }: GenericEndpointContext,
): Promise<boolean> {
  const id: unknown = (body as { invitationId?: unknown } | undefined)?.invitationId;
  const byId = typeof id === "string" && UUID.test(id) ? [{ field: "id", value: id }] : null;
  if (email === undefined || (byId === null && emailVerified !== true)) return false;
  const invitations = await adapter.findMany<{ expiresAt: Date }>({
    model: "invitation",
    where: [{ field: "email", value: email.toLowerCase() }, { field: "status", value: "pending" }, ...(byId ?? [])],
  });
  return invitations.some(({ expiresAt }) => expiresAt.getTime() > Date.now());
}
