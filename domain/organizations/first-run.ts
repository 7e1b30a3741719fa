import { acquireAdvisoryLock } from "../shared/advisory-lock.ts";
import type { Db } from "../database-types.ts";
import { FIRST_OWNER_EMAIL } from "./reserved-email.ts";

/**
 * Whether this installation waits for its first user, who claims the first organization: the placeholder owner of that
 * organization still exists, or no user exists at all.
 */
export async function isFirstRun(db: Db): Promise<boolean> {
  const users = db.selectFrom("auth.user").select("id").limit(1);
  const placeholder = await users.where("email", "=", FIRST_OWNER_EMAIL).executeTakeFirst();
  return placeholder !== undefined || (await users.executeTakeFirst()) === undefined;
}

/**
 * Whether the user who is about to be created is the first one. Call it in the transaction that creates the user: it holds
 * a lock until the transaction ends, so that of several simultaneous sign-ups only one is the first.
 */
export async function lockFirstSignUp(db: Db): Promise<boolean> {
  if (!(await isFirstRun(db))) return false;
  await acquireAdvisoryLock(db, "first sign-up");
  return isFirstRun(db);
}
