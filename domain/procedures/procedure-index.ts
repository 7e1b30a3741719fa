import DataLoader from "dataloader";
import { VersionedCache } from "../shared/versioned-cache.ts";
import type { Db } from "../database-types.ts";
import type { DirectTools } from "../organizations/organization.entity.ts";
import { nameDirectTools } from "./direct-tool-names.ts";
import { type LiveProcedure, NO_LIVE_APPS, readProcedureVersions, listProcedures } from "./list-procedures.ts";

/** The procedures of an organization's ready apps at one moment. */
export class OfferedProcedures {
  /** Differs whenever the procedures differ. */
  readonly version: string;
  readonly all: readonly LiveProcedure[];
  readonly #directTools: DirectTools;
  #toolNames: ReadonlyMap<LiveProcedure, string> | undefined;

  constructor(all: readonly LiveProcedure[], version: string, directTools: DirectTools = "all") {
    this.version = version;
    this.all = all;
    this.#directTools = directTools;
  }

  /** The direct tools' names by procedure, sorted by name; none if the organization has no direct tools. */
  get toolNames(): ReadonlyMap<LiveProcedure, string> {
    return (this.#toolNames ??= nameDirectTools(this.#directTools === "none" ? [] : this.all));
  }
}

const MAX_CACHED_ORGANIZATIONS = 100;

/**
 * Caches the procedures of organizations until one of their apps becomes ready, changes or is deleted. Every call asks the
 * database for the current version, so that several processes agree. Concurrent calls share one indexed query.
 */
export class ProcedureIndex {
  readonly #db: Db;
  readonly #cache = new VersionedCache<OfferedProcedures>({ maxEntries: MAX_CACHED_ORGANIZATIONS });
  readonly #versions: DataLoader<string, string>;

  constructor(db: Db) {
    this.#db = db;
    // Nothing is cached, and a batch is closed before its query starts: no call gets a version that was read before it.
    this.#versions = new DataLoader((orgIds) => readVersions(db, orgIds), {
      cache: false,
      batchScheduleFn: setImmediate,
    });
  }

  get(orgId: string): Promise<OfferedProcedures> {
    return this.#cache.get(orgId, {
      readVersion: () => this.#versions.load(orgId),
      read: async () => {
        const { version, value, directTools } = await listProcedures(this.#db, orgId);
        return { version, value: new OfferedProcedures(value, version, directTools) };
      },
    });
  }
}

async function readVersions(db: Db, orgIds: readonly string[]): Promise<string[]> {
  const versionByOrgId = await readProcedureVersions(db, [...new Set(orgIds)]);
  return orgIds.map((orgId) => versionByOrgId.get(orgId) ?? NO_LIVE_APPS);
}
