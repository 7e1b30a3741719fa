import { BatchedReads } from "../batched-reads.ts";
import type { AppStatus } from "../apps/app-status.ts";
import type { Db } from "../tables.ts";
import { directToolNames } from "./direct-tools.ts";
import { type LiveProcedure, proceduresOf } from "./list-procedures.ts";
import { ProcedureSearch } from "./procedure-search.ts";

/** What an organization's ready apps offer, as it was at one moment. What is made of it is made when first asked for. */
export class OfferedProcedures {
  readonly all: readonly LiveProcedure[];
  #search: Promise<ProcedureSearch> | undefined;
  #toolNames: ReadonlyMap<LiveProcedure, string> | undefined;

  constructor(all: readonly LiveProcedure[]) {
    this.all = all;
  }

  get search(): Promise<ProcedureSearch> {
    return (this.#search ??= ProcedureSearch.over(this.all));
  }

  /** The procedures that are tools of their own, with the tools' names, in the order of these. */
  get toolNames(): ReadonlyMap<LiveProcedure, string> {
    return (this.#toolNames ??= directToolNames(this.all));
  }
}

interface Kept {
  version: string;
  offered: Promise<OfferedProcedures>;
}

const NOTHING_OFFERED = "none";

/** How many organizations' procedures are kept at once. */
const ORGANIZATIONS_KEPT = 100;

/**
 * The procedures of organizations, kept until one of their apps becomes ready, changes or goes. Whether that has happened
 * is asked of the database each time, in one indexed query for all who ask at once, so that several processes never
 * disagree.
 */
export class ProcedureIndex {
  readonly #db: Db;
  readonly #kept = new Map<string, Kept>();
  readonly #versions = new BatchedReads((orgIds) => this.#versionsOf(orgIds), NOTHING_OFFERED);

  constructor(db: Db) {
    this.#db = db;
  }

  async of(orgId: string): Promise<OfferedProcedures> {
    // Before the procedures themselves, which are then at least as new as the version they are kept under.
    const version = await this.#versions.of(orgId);
    const kept = this.#kept.get(orgId);
    if (kept?.version === version) return kept.offered;
    const offered = proceduresOf(this.#db, orgId).then((all) => new OfferedProcedures(all));
    this.#keep(orgId, { version, offered });
    return offered;
  }

  /** Calls that come while it is being read wait for the same reading; one that fails is not kept. */
  #keep(orgId: string, fresh: Kept): void {
    this.#kept.delete(orgId);
    this.#kept.set(orgId, fresh);
    if (this.#kept.size > ORGANIZATIONS_KEPT) this.#kept.delete(this.#kept.keys().next().value ?? "");
    fresh.offered.catch(() => {
      if (this.#kept.get(orgId) === fresh) this.#kept.delete(orgId);
    });
  }

  /**
   * By organization, a text that changes with what it offers: the procedures of a ready app are written once for each
   * value of its fence, and its token only ever gets a higher version. Times would not tell two changes within a
   * millisecond apart, nor the changes of processes whose clocks differ.
   */
  async #versionsOf(orgIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.#db
      .selectFrom("apps")
      .select(({ fn }) => [
        "org_id",
        fn.countAll().as("count"),
        fn.sum(fn<string>("uuid_hash_extended", ["id", "fence"])).as("hashes"),
        fn.sum("token_version").as("tokens"),
      ])
      .where("org_id", "in", orgIds)
      .where("status", "=", "ready" satisfies AppStatus)
      .groupBy("org_id")
      .execute();
    return new Map(rows.map(({ org_id: orgId, count, hashes, tokens }) => [orgId, `${count} ${hashes} ${tokens}`]));
  }
}
