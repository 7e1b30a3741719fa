import type { QueueName } from "../../../domain/ports/job-queue.ts";

/** Where the jobs of all queues are stored. */
export const SCHEMA = "jobs";

interface SqlDatabase {
  executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

const START_TAG = `
  SELECT greatest(
    coalesce(max(-priority) FILTER (WHERE state = 'active'), min(-priority), 0),
    coalesce(max(-priority) FILTER (WHERE group_id = $2) + 1, 0)
  )::int AS tag
  FROM ${SCHEMA}.job WHERE name = $1 AND state <= 'active'`;

/**
 * Returns the options that make a queue serve organizations in turn (start-time fair queueing). A job has the tag after that of
 * its organization's last unfinished job, but at least the tag of the jobs that run now. The lowest tag is first, so the
 * first job of an organization waits for no second one of another. pg-boss runs the highest priority first.
 *
 * Two simultaneous jobs of one organization can get the same tag, which only makes them equally urgent.
 */
export async function fairOptions(
  database: SqlDatabase,
  queue: QueueName,
  organizationId: string,
): Promise<{ priority: number; group: { id: string } }> {
  const { rows } = await database.executeSql(START_TAG, [queue, organizationId]);
  const [{ tag } = { tag: 0 }] = rows as { tag: number }[];
  return { priority: -tag, group: { id: organizationId } };
}
