import type { Db } from "../tables.ts";
import { FIRST_OWNER_EMAIL } from "./placeholder.ts";

/** Whether nobody has signed up on this installation yet: the first person to do so owns the first organization. */
export async function isUnclaimed(db: Db): Promise<boolean> {
  const placeholder = await db
    .selectFrom("auth.user")
    .select("id")
    .where("email", "=", FIRST_OWNER_EMAIL)
    .executeTakeFirst();
  if (placeholder !== undefined) return true;
  return (await db.selectFrom("auth.organization").select("id").limit(1).executeTakeFirst()) === undefined;
}
