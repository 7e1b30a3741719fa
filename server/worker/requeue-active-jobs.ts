import type { PgBoss } from "pg-boss";
import { IN_PROGRESS } from "../../domain/apps/app-status.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import type { Orm } from "../database/orm.ts";
import { QUEUE_NAMES } from "../drivers/job-queue/pg-boss-queue.ts";

/**
 * Releases the leases and jobs of an earlier process, so that they need not expire first. Only correct on the embedded
 * database: its folder lock guarantees that the earlier process has ended.
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
