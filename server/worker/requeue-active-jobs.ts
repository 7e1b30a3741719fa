import type { PgBoss } from "pg-boss";
import { IN_PROGRESS } from "../../domain/apps/app-status.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import type { Orm } from "../database/orm.ts";
import { QUEUE_NAMES } from "../drivers/job-queue/pg-boss.ts";

/**
 * Ends the leases and the active jobs of an earlier process, so that its work continues without waiting until they expire.
 * To be called only if no other process works on the database, as on the embedded one, whose folder is locked.
 */
export async function requeueActiveJobs(orm: Orm, boss: PgBoss): Promise<void> {
  await orm.em.fork().nativeUpdate(Deployment, { status: { $in: [...IN_PROGRESS] } }, { leaseRenewedAt: null });
  for (const queue of QUEUE_NAMES) {
    const { rows } = await boss
      .getDb()
      .executeSql("select id from jobs.job where name = $1 and state = 'active'", [queue]);
    const ids = rows.map((row: { id: string }) => row.id);
    if (ids.length > 0) await boss.fail(queue, ids);
  }
}
