import type { Db } from "../database-types.ts";

/** Cancels the open invitations that whoever made them could not make any more: removed, or of a lower role by now. */
export async function cancelOrphanedInvitations(db: Db): Promise<void> {
  await db
    .updateTable("auth.invitation")
    .set({ status: "canceled" })
    .where("status", "=", "pending")
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("auth.member as member")
            .select("member.id")
            .whereRef("member.userId", "=", "auth.invitation.inviterId")
            .whereRef("member.organizationId", "=", "auth.invitation.organizationId")
            .where(({ or, and, eb }) =>
              or([
                eb("member.role", "=", "owner"),
                and([eb("member.role", "=", "admin"), eb("auth.invitation.role", "!=", "owner")]),
              ]),
            ),
        ),
      ),
    )
    .execute();
}
