import { BatchLoader } from "../shared/batch-loader.ts";
import { VersionedCache, type Versioned } from "../shared/versioned-cache.ts";
import type { Db } from "../database-types.ts";
import { directToolNames } from "./direct-tool-names.ts";
import { type LiveProcedure, NOTHING_OFFERED, offerVersions, proceduresOf } from "./list-procedures.ts";
import { ProcedureSearch } from "./procedure-search-index.ts";

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

/** How many organizations' procedures are kept at once. */
const ORGANIZATIONS_KEPT = 100;

/**
 * The procedures of organizations, kept until one of their apps becomes ready, changes or goes. Whether that has happened
 * is asked of the database each time, in one indexed query for all who ask at once, so that several processes never
 * disagree.
 */
export class ProcedureIndex {
  readonly #db: Db;
  readonly #kept = new VersionedCache<OfferedProcedures>(ORGANIZATIONS_KEPT);
  readonly #versions: BatchLoader<string>;

  constructor(db: Db) {
    this.#db = db;
    this.#versions = new BatchLoader((orgIds) => offerVersions(db, orgIds), NOTHING_OFFERED);
  }

  async of(orgId: string): Promise<OfferedProcedures> {
    return this.#kept.of(orgId, { version: () => this.#versions.of(orgId), read: () => this.#read(orgId) });
  }

  async #read(orgId: string): Promise<Versioned<OfferedProcedures>> {
    const { version, value } = await proceduresOf(this.#db, orgId);
    return { version, value: new OfferedProcedures(value) };
  }
}
