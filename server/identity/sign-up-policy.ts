import type { BetterAuthOptions, GenericEndpointContext, User } from "better-auth";
import { APIError } from "better-auth/api";
import { mayBeFirst } from "../../domain/organizations/first-run.ts";
import { isReservedEmail } from "../../domain/users/reserved-email.ts";
import { type Db, queryBuilderOf } from "../../domain/database-types.ts";
import { isUuid } from "../../domain/shared/ids.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { currentTransaction } from "./current-transaction.ts";

type BeforeCreate = NonNullable<
  NonNullable<NonNullable<NonNullable<BetterAuthOptions["databaseHooks"]>["user"]>["create"]>["before"]
>;

export interface SignUpDeps {
  orm: Orm;
  signUp: Config["signUp"];
}

/**
 * Decides who may sign up, whichever way they come: the first person of an installation always, later ones as `SIGN_UP`
 * says. Whoever signs up with a password shows the id of the invitation: the address alone proves nothing.
 */
export function signUpPolicy({ orm, signUp }: SignUpDeps): BeforeCreate {
  return async (user, context) => {
    if (isReservedEmail(user.email)) throw refused("This address cannot be used.");
    if (signUp === "open" || context === null) return;
    const db = currentTransaction() ?? queryBuilderOf(orm.em.fork());
    if (await mayBeFirst(db)) return;
    if (signUp === "invite" && (await isInvited(db, user, context))) return;
    throw refused(signUp === "invite" ? "You need an invitation to sign up." : "Nobody can sign up here.");
  };
}

/**
 * Holds the same against a sign-up before better-auth looks whether the address is taken: who may not sign up learns
 * nothing about who has.
 */
export async function mayAskToSignUp(deps: SignUpDeps, context: GenericEndpointContext): Promise<void> {
  const { email }: { email?: unknown } = context.body ?? {};
  if (typeof email === "string") await signUpPolicy(deps)({ email, emailVerified: false } as never, context);
}

function refused(message: string): APIError {
  return new APIError("FORBIDDEN", { message, code: "SIGN_UP_REFUSED" });
}

async function isInvited(
  db: Db,
  { email, emailVerified }: Partial<User>,
  { body }: GenericEndpointContext,
): Promise<boolean> {
  const given: unknown = (body as { invitationId?: unknown } | undefined)?.invitationId;
  const id = isUuid(given) ? given : null;
  if (email === undefined || (id === null && emailVerified !== true)) return false;
  const invitation = await db
    .selectFrom("auth.invitation")
    .select("id")
    .where("email", "=", email.toLowerCase())
    .where("status", "=", "pending")
    .where("expiresAt", ">", new Date().toISOString())
    .$if(id !== null, (query) => query.where("id", "=", id ?? ""))
    .executeTakeFirst();
  return invitation !== undefined;
}
