import { BatchLoader } from "../shared/batch-loader.ts";
import { frozen } from "../shared/frozen.ts";
import { VersionedCache } from "../shared/versioned-cache.ts";
import type { Db } from "../database-types.ts";
import { firstOverviews, NO_APPS, overviewVersions } from "./app-list-queries.ts";
import { type AppPage, pageOf } from "./app-page.ts";

/** How many pages are kept at once. One takes a tenth of a megabyte at most, with what is made of it. */
const PAGES_KEPT = 300;

/**
 * The first pages of organizations' apps, which agents ask for again and again, kept until an app on them changes or
 * goes, or another comes. Whether that has happened is asked of the database each time, in one indexed query for all who
 * ask at once, so that several processes never disagree.
 */
export class AppListCache {
  readonly #db: Db;
  readonly #urlOf: (slug: string) => string;
  readonly #kept = new VersionedCache<AppPage>(PAGES_KEPT);
  /** By the number of rows that are looked at. */
  readonly #versions = new Map<number, BatchLoader<string>>();

  constructor(db: Db, urlOf: (slug: string) => string) {
    this.#db = db;
    this.#urlOf = urlOf;
  }

  /** A page that cannot be changed. It is the same object for as long as what it shows is the same. */
  of(orgId: string, limit: number): Promise<AppPage> {
    return this.#kept.of(`${orgId} ${limit}`, {
      version: () => this.#versionsOver(limit + 1).of(orgId),
      read: async () => {
        const { version, value: rows } = await firstOverviews(this.#db, orgId, limit + 1);
        return { version, value: frozen(pageOf(rows, { limit, urlOf: this.#urlOf })) };
      },
    });
  }

  #versionsOver(count: number): BatchLoader<string> {
    let versions = this.#versions.get(count);
    if (versions === undefined) {
      versions = new BatchLoader((orgIds) => overviewVersions(this.#db, orgIds, count), NO_APPS);
      this.#versions.set(count, versions);
    }
    return versions;
  }
}
