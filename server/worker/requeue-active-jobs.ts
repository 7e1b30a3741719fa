import type { PgBoss } from "pg-boss";
import { IN_PROGRESS } from "../../domain/apps/app-status.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import type { Orm } from "../database/orm.ts";
import { QUEUE_NAMES } from "../drivers/job-queue/pg-boss-queue.ts";

/**
 * Gives up everything that an earlier process held. Only right where this process is the only one (the embedded
 * database, whose folder is locked): whoever held anything is dead, so there is no need to wait for a hold to run out.
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
