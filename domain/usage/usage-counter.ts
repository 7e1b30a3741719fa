import type { Db } from "../database-types.ts";
import type { UsageMetric } from "./usage-metric.ts";
import { dayOf, periodOf } from "./usage-period.ts";

interface UsageRow {
  org_id: string;
  period: string;
  metric: UsageMetric;
  subject_id: string;
  count: number;
}

type TakenCounts = [period: string, id: string, count: number][];

/** Counts by month or day, and by the id of the app or the organization. */
class Counts {
  readonly #counts = new Map<string, number>();

  add(key: string, count: number): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  /** Returns the counts, and starts again at zero. */
  take(): TakenCounts {
    const taken = [...this.#counts].map(([key, count]): [string, string, number] => {
      const [period = "", id = ""] = key.split(" ");
      return [period, id, count];
    });
    this.#counts.clear();
    return taken;
  }

  /** Adds counts that were taken. */
  restore(taken: TakenCounts): void {
    for (const [period, id, count] of taken) this.add(`${period} ${id}`, count);
  }
}

/** Rows per statement. */
const BATCH_SIZE = 1000;

/**
 * Counts requests and programs in memory, so that counting costs no query. `flush` writes the counts to the database; a
 * crash loses those since the last flush.
 */
export class UsageCounter {
  /** By day. */
  readonly #requests = new Counts();
  /** By day. */
  readonly #errors = new Counts();
  /** By month. */
  readonly #programs = new Counts();

  countRequest(appId: string): void {
    this.#requests.add(`${dayOf(new Date())} ${appId}`, 1);
  }

  /** Counts a request, which `countRequest` has counted, as one that the app responded to with 5xx. */
  countServerError(appId: string): void {
    this.#errors.add(`${dayOf(new Date())} ${appId}`, 1);
  }

  countProgram(orgId: string): void {
    this.#programs.add(`${periodOf(new Date())} ${orgId}`, 1);
  }

  /**
   * Adds the counts to those in the database. If that fails, they are written by the next call. Requests of an app that was
   * deleted meanwhile are not counted.
   */
  async flush(db: Db): Promise<void> {
    const [requests, errors, programs] = [this.#requests.take(), this.#errors.take(), this.#programs.take()];
    try {
      const owners = await findOwners(db, [...new Set([...requests, ...errors].map(([, appId]) => appId))]);
      const ofApps = (counts: TakenCounts, metric: UsageMetric): UsageRow[] =>
        counts.flatMap(([period, appId, count]) => {
          const orgId = owners.get(appId);
          return orgId === undefined ? [] : [{ org_id: orgId, period, metric, subject_id: appId, count }];
        });
      const byDay = ofApps(requests, "requests");
      const rows = [
        ...byDay,
        ...toMonths(byDay),
        ...ofApps(errors, "request_errors"),
        ...programs.map(([period, orgId, count]): UsageRow => {
          return { org_id: orgId, period, metric: "programs", subject_id: orgId, count };
        }),
      ];
      // In one transaction, so that a failure leaves all of them to the next call.
      if (rows.length > 0) await db.transaction().execute((tx) => addCounts(tx, rows));
    } catch (error) {
      this.#requests.restore(requests);
      this.#errors.restore(errors);
      this.#programs.restore(programs);
      throw error;
    }
  }
}

/** Sums the counts of days by month. */
function toMonths(rows: readonly UsageRow[]): UsageRow[] {
  const groups = Map.groupBy(rows, ({ period, subject_id: id }) => `${period.slice(0, 7)} ${id}`);
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    return [
      {
        ...first,
        period: first.period.slice(0, 7),
        count: others.reduce((sum, { count }) => sum + count, first.count),
      },
    ];
  });
}

/** Adds counts to those in the database. */
export async function addCounts(db: Db, rows: readonly UsageRow[]): Promise<void> {
  // In one order, so that two processes do not wait for each other.
  const ordered = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
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

function keyOf({ subject_id: id, period, metric }: UsageRow): string {
  return `${id} ${period} ${metric}`;
}

async function findOwners(db: Db, appIds: readonly string[]): Promise<Map<string, string>> {
  if (appIds.length === 0) return new Map();
  const rows = await db.selectFrom("apps").select(["id", "org_id"]).where("id", "in", appIds).execute();
  return new Map(rows.map((row) => [row.id, row.org_id]));
}
