import { BatchedReads } from "../batched-reads.ts";
import type { Db } from "../tables.ts";
import type { AppStatus } from "./app-status.ts";
import { SUMMARY_COLUMNS, type SummaryRow } from "./app-view.ts";

/** An app as a page for agents is made of it. */
export type OverviewRow = SummaryRow & { procedure_count: number | string | bigint | null };

/** Where a page begins: after the app with this time and id, in the order of the list. */
export interface Position {
  createdAt: string;
  id: string;
}

/**
 * The apps of organizations in the order of the list, newest first, each with the number of its procedures. The first
 * pages that are asked for at once come from one query: what it costs is less the rows than the way to the database.
 */
export class AppOverviews {
  readonly #db: Db;
  readonly #first = new Map<number, BatchedReads<readonly OverviewRow[]>>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** The first `count` apps. */
  first(orgId: string, count: number): Promise<readonly OverviewRow[]> {
    let reads = this.#first.get(count);
    if (reads === undefined) {
      reads = new BatchedReads<readonly OverviewRow[]>((orgIds) => this.#firstOf(orgIds, count), []);
      this.#first.set(count, reads);
    }
    return reads.of(orgId);
  }

  /** The next `count` apps after a position. */
  async after(orgId: string, { createdAt, id }: Position, count: number): Promise<readonly OverviewRow[]> {
    const at = createdAt as never;
    return overviews(this.#db)
      .where("org_id", "=", orgId)
      .where(({ or, and, eb }) => or([eb("created_at", "<", at), and([eb("created_at", "=", at), eb("id", "<", id)])]))
      .limit(count)
      .execute();
  }

  async #firstOf(orgIds: readonly string[], count: number): Promise<Map<string, OverviewRow[]>> {
    const rows = await this.#db
      .selectFrom("organizations")
      .innerJoinLateral(
        // A subquery beside its table, which the types of a query of its own know nothing of.
        () =>
          overviews(this.#db)
            .whereRef("apps.org_id", "=", "organizations.id" as never)
            .limit(count)
            .as("app"),
        (join) => join.onTrue(),
      )
      .select("organizations.id as organization")
      .selectAll("app")
      .where("organizations.id", "in", orgIds)
      .orderBy("app.created_at", "desc")
      .orderBy("app.id", "desc")
      .execute();
    return Map.groupBy(rows, ({ organization }) => organization);
  }
}

function overviews(db: Db) {
  return db
    .selectFrom("apps")
    .select(SUMMARY_COLUMNS)
    .select(({ selectFrom }) =>
      selectFrom("app_procedures")
        .select(({ fn }) => fn.countAll().as("procedure_count"))
        .whereRef("app_procedures.app_id", "=", "apps.id")
        .where("apps.status", "=", "ready" satisfies AppStatus)
        .as("procedure_count"),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc");
}
