import type { AppStatus } from "../apps/app-status.ts";
import type { Db } from "../tables.ts";
import { type LiveProcedure, proceduresOf } from "./list-procedures.ts";
import { ProcedureSearch } from "./procedure-search.ts";

/** What an organization's ready apps offer, as it was at one moment. */
export class OfferedProcedures {
  readonly all: readonly LiveProcedure[];
  #search: ProcedureSearch | undefined;

  constructor(all: readonly LiveProcedure[]) {
    this.all = all;
  }

  /** Made when it is first asked for: most callers never search. */
  get search(): ProcedureSearch {
    return (this.#search ??= new ProcedureSearch(this.all));
  }
}

interface Kept {
  version: string;
  offered: OfferedProcedures;
}

/** How many organizations' procedures are kept at once. */
const ORGANIZATIONS_KEPT = 100;

/**
 * The procedures of organizations, kept until one of their apps becomes ready, changes or goes. Whether that has happened
 * is asked of the database each time, in one indexed query, so that several processes never disagree for long.
 */
export class ProcedureIndex {
  readonly #db: Db;
  readonly #kept = new Map<string, Kept>();

  constructor(db: Db) {
    this.#db = db;
  }

  async of(orgId: string): Promise<OfferedProcedures> {
    const version = await this.#version(orgId);
    const kept = this.#kept.get(orgId);
    if (kept?.version === version) return kept.offered;
    const offered = new OfferedProcedures(await proceduresOf(this.#db, orgId));
    this.#kept.delete(orgId);
    this.#kept.set(orgId, { version, offered });
    if (this.#kept.size > ORGANIZATIONS_KEPT) this.#kept.delete(this.#kept.keys().next().value ?? "");
    return offered;
  }

  async #version(orgId: string): Promise<string> {
    const row = await this.#db
      .selectFrom("apps")
      .select(({ fn }) => [fn.countAll().as("count"), fn.max("updated_at").as("latest")])
      .where("org_id", "=", orgId)
      .where("status", "=", "ready" satisfies AppStatus)
      .executeTakeFirstOrThrow();
    return `${row.count} ${String(row.latest)}`;
  }
}
