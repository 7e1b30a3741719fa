import { acquireAdvisoryLock } from "../shared/advisory-lock.ts";
import type { Db } from "../database-types.ts";
import { FIRST_OWNER_EMAIL } from "./placeholder-owner.ts";

/** Whether nobody has signed up on this installation yet: the first person to do so owns the first organization. */
export async function isUnclaimed(db: Db): Promise<boolean> {
  const people = db.selectFrom("auth.user").select("id").limit(1);
  const placeholder = await people.where("email", "=", FIRST_OWNER_EMAIL).executeTakeFirst();
  return placeholder !== undefined || (await people.executeTakeFirst()) === undefined;
}

/**
 * The same for somebody who is about to be the first, in the transaction of `db`: of several at once, only one finds that
 * nobody has signed up, and the others are told when that one's transaction has ended.
 */
export async function mayBeFirst(db: Db): Promise<boolean> {
  if (!(await isUnclaimed(db))) return false;
  await acquireAdvisoryLock(db, "first person");
  return isUnclaimed(db);
}
