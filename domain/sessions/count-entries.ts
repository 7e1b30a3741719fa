import type { Db } from "../database-types.ts";
import { TOKEN_METRICS } from "../usage/token-counters.ts";
import { addCounts } from "../usage/usage-counter.ts";
import { periodOf } from "../usage/usage-period.ts";
import type { NewRow } from "./entry-rows.ts";
import type { SessionRow } from "./session-view.ts";

/** Adds new entries to the counters of their session, and to the usage of its agent in the months of the entries. */
export async function countEntries(tx: Db, session: SessionRow, rows: readonly NewRow[]): Promise<void> {
  const latest = new Date(Math.max(...rows.map(({ created_at: createdAt }) => createdAt.getTime())));
  await tx
    .updateTable("sessions")
    .set(({ eb, fn, val, ref }) => ({
      message_count: session.message_count + rows.length,
      ...Object.fromEntries(TOKEN_METRICS.map((column) => [column, eb(column, "+", val(String(sum(rows, column))))])),
      updated_at: fn("greatest", [ref("updated_at"), val(latest)]),
    }))
    .where("id", "=", session.id)
    .execute();
  await countUsage(tx, session, rows);
}

/** Last in the transaction, because the appends of all sessions of an agent wait for each other from here on. */
async function countUsage(tx: Db, session: SessionRow, rows: readonly NewRow[]): Promise<void> {
  const subject = { org_id: session.org_id, subject_id: session.agent_id };
  const periods = Map.groupBy(rows, ({ created_at: createdAt }) => periodOf(createdAt));
  // In one order, so that two transactions do not wait for each other.
  const counts = [...periods]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([period, ofPeriod]) => [
      { ...subject, period, metric: "session_entries" as const, count: ofPeriod.length },
      ...TOKEN_METRICS.map((metric) => ({ ...subject, period, metric, count: sum(ofPeriod, metric) })),
    ]);
  await addCounts(
    tx,
    counts.filter(({ count }) => count > 0),
  );
}

function sum(rows: readonly NewRow[], column: (typeof TOKEN_METRICS)[number]): number {
  return rows.reduce((total, row) => total + Number(row[column] ?? 0), 0);
}
