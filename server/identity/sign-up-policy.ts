import type { BetterAuthOptions, GenericEndpointContext, User } from "better-auth";
import { APIError } from "better-auth/api";
import { lockFirstSignUp } from "../../domain/organizations/first-run.ts";
import { isReservedEmail } from "../../domain/organizations/reserved-email.ts";
import { type Db, queryBuilderOf } from "../../domain/database-types.ts";
import { isUuid } from "../../domain/shared/ids.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { readFields } from "./auth-call.ts";
import { currentTransaction } from "./current-transaction.ts";

type BeforeCreateUser = NonNullable<
  NonNullable<NonNullable<NonNullable<BetterAuthOptions["databaseHooks"]>["user"]>["create"]>["before"]
>;

export interface SignUpDeps {
  orm: Orm;
  signUp: Config["signUp"];
}

/**
 * Decides who may sign up, with a password or through a social provider. The first user of an installation always may;
 * for later users `SIGN_UP` decides. A sign-up with a password requires the id of the invitation, because nothing proves
 * that the user owns the email address.
 */
export function signUpPolicy({ orm, signUp }: SignUpDeps): BeforeCreateUser {
  return async (user, context) => {
    if (isReservedEmail(user.email)) throw signUpError("This email address is reserved. Use another one.");
    if (signUp === "open" || context === null) return;
    const db = currentTransaction() ?? queryBuilderOf(orm.em.fork());
    if (await lockFirstSignUp(db)) return;
    if (signUp === "invite" && (await isInvited(db, user, context))) return;
    throw signUpError(signUp === "invite" ? "You need an invitation to sign up." : "Sign-up is closed.");
  };
}

/**
 * Applies the policy before better-auth checks whether the email address is taken. Otherwise a user who may not sign up
 * could find out which addresses have an account.
 */
export async function checkSignUpPolicy(deps: SignUpDeps, context: GenericEndpointContext): Promise<void> {
  const { email } = readFields(context.body);
  if (typeof email === "string") await signUpPolicy(deps)({ email, emailVerified: false } as never, context);
}

function signUpError(message: string): APIError {
  return new APIError("FORBIDDEN", { message, code: "SIGN_UP_REFUSED" });
}

async function isInvited(
  db: Db,
  { email, emailVerified }: Partial<User>,
  { body }: GenericEndpointContext,
): Promise<boolean> {
  const { invitationId } = readFields(body);
  const id = isUuid(invitationId) ? invitationId : null;
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
