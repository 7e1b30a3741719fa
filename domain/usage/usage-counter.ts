import type { Db } from "../database-types.ts";
import type { UsageMetric } from "./usage-metric.ts";
import { periodOf } from "./usage-period.ts";

interface UsageRow {
  org_id: string;
  period: string;
  metric: UsageMetric;
  subject_id: string;
  count: number;
}

/** Counts by month, and by the id of the app or the organization. */
class Counts {
  readonly #counts = new Map<string, number>();

  add(key: string, count: number): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  /** Returns `[period, id, count]` for each counter, and starts again at zero. */
  take(): [period: string, id: string, count: number][] {
    const taken = [...this.#counts].map(([key, count]): [string, string, number] => {
      const [period = "", id = ""] = key.split(" ");
      return [period, id, count];
    });
    this.#counts.clear();
    return taken;
  }
}

/** Rows per statement. */
const BATCH_SIZE = 1000;

/**
 * Counts requests and programs in memory, so that counting costs no query. `flush` writes the counts to the database; a
 * crash loses those since the last flush.
 */
export class UsageCounter {
  readonly #requests = new Counts();
  readonly #programs = new Counts();

  countRequest(appId: string): void {
    this.#requests.add(`${periodOf(new Date())} ${appId}`, 1);
  }

  countProgram(orgId: string): void {
    this.#programs.add(`${periodOf(new Date())} ${orgId}`, 1);
  }

  /**
   * Adds the counts to those in the database. If that fails, they are written by the next call. Requests of an app that was
   * deleted meanwhile are not counted.
   */
  async flush(db: Db): Promise<void> {
    const [requests, programs] = [this.#requests.take(), this.#programs.take()];
    try {
      const owners = await findOwners(db, [...new Set(requests.map(([, appId]) => appId))]);
      const rows = [
        ...requests.flatMap(([period, appId, count]): UsageRow[] => {
          const orgId = owners.get(appId);
          return orgId === undefined ? [] : [{ org_id: orgId, period, metric: "requests", subject_id: appId, count }];
        }),
        ...programs.map(([period, orgId, count]): UsageRow => {
          return { org_id: orgId, period, metric: "programs", subject_id: orgId, count };
        }),
      ];
      // In one transaction, so that a failure leaves all of them to the next call.
      if (rows.length > 0) await db.transaction().execute((tx) => addCounts(tx, rows));
    } catch (error) {
      for (const [period, appId, count] of requests) this.#requests.add(`${period} ${appId}`, count);
      for (const [period, orgId, count] of programs) this.#programs.add(`${period} ${orgId}`, count);
      throw error;
    }
  }
}

/** Adds counts to those in the database. */
export async function addCounts(db: Db, rows: readonly UsageRow[]): Promise<void> {
  // In one order, so that two processes do not wait for each other.
  const ordered = rows.toSorted((a, b) => (a.subject_id < b.subject_id ? -1 : 1));
  for (let start = 0; start < ordered.length; start += BATCH_SIZE)
    await db
      .insertInto("usage_counts")
      .values(ordered.slice(start, start + BATCH_SIZE).map((row) => ({ ...row, count: String(row.count) })))
      .onConflict((conflict) =>
        conflict
          .columns(["org_id", "period", "metric", "subject_id"])
          .doUpdateSet(({ eb, ref }) => ({ count: eb("usage_counts.count", "+", ref("excluded.count")) })),
      )
      .execute();
}

async function findOwners(db: Db, appIds: readonly string[]): Promise<Map<string, string>> {
  if (appIds.length === 0) return new Map();
  const rows = await db.selectFrom("apps").select(["id", "org_id"]).where("id", "in", appIds).execute();
  return new Map(rows.map((row) => [row.id, row.org_id]));
}
