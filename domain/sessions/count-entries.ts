import type { Db } from "../database-types.ts";
import { TOKEN_METRICS } from "../usage/token-counters.ts";
import { addCounts } from "../usage/usage-counter.ts";
import { periodOf } from "../usage/usage-period.ts";
import type { NewRow } from "./entry-rows.ts";
import type { SessionRow } from "./session-view.ts";

/** The sums of one month. */
type Sums = Record<"session_entries" | (typeof TOKEN_METRICS)[number], number>;

/** Adds up new entries, by the months of their times. */
export class EntryTotals {
  readonly #months = new Map<string, Sums>();
  #count = 0;
  #latest = 0;

  /** The number of entries. */
  get count(): number {
    return this.#count;
  }

  /** The latest time of an entry. */
  get latest(): Date {
    return new Date(this.#latest);
  }

  /** By month, in the order of time. */
  get months(): [period: string, sums: Sums][] {
    return [...this.#months].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  add(rows: readonly NewRow[]): this {
    for (const row of rows) {
      const sums = this.#monthOf(row.created_at);
      sums.session_entries++;
      for (const metric of TOKEN_METRICS) sums[metric] += Number(row[metric] ?? 0);
      this.#latest = Math.max(this.#latest, row.created_at.getTime());
    }
    this.#count += rows.length;
    return this;
  }

  #monthOf(time: Date): Sums {
    const period = periodOf(time);
    const sums = this.#months.get(period) ?? {
      session_entries: 0,
      input_tokens: 0,
      output_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
    };
    this.#months.set(period, sums);
    return sums;
  }
}

/** Adds new entries to the counters of their session, and to the usage of its agent in the months of the entries. */
export async function addCountsOfEntries(tx: Db, session: SessionRow, totals: EntryTotals): Promise<void> {
  const { count, latest, months } = totals;
  const tokens = TOKEN_METRICS.map(
    (metric) => [metric, months.reduce((sum, [, sums]) => sum + sums[metric], 0)] as const,
  );
  await tx
    .updateTable("sessions")
    .set(({ eb, fn, val, ref }) => ({
      message_count: session.message_count + count,
      ...Object.fromEntries(tokens.map(([column, sum]) => [column, eb(column, "+", val(String(sum)))])),
      updated_at: fn("greatest", [ref("updated_at"), val(latest)]),
    }))
    .where("id", "=", session.id)
    .execute();
  await countUsage(tx, session, months);
}

/** Last in the transaction, because the appends of all sessions of an agent wait for each other from here on. */
async function countUsage(
  tx: Db,
  { org_id, agent_id: subject_id }: SessionRow,
  months: readonly [period: string, sums: Sums][],
): Promise<void> {
  // In one order, so that two transactions do not wait for each other.
  const counts = months.flatMap(([period, sums]) =>
    (["session_entries", ...TOKEN_METRICS] as const).map((metric) => ({
      org_id,
      subject_id,
      period,
      metric,
      count: sums[metric],
    })),
  );
  await addCounts(
    tx,
    counts.filter(({ count }) => count > 0),
  );
}
