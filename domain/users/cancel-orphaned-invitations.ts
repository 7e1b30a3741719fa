import type { Db } from "../database-types.ts";

/** Cancels the pending invitations whose inviter is no longer a member, or no longer has a role that may assign the invited role. */
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
