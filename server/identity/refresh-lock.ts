import { createHash } from "node:crypto";
import { sql } from "kysely";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { acquireAdvisoryLock } from "../../domain/shared/advisory-lock.ts";
import { KeyedLock } from "../../domain/shared/keyed-lock.ts";
import type { Orm } from "../database/orm.ts";

/**
 * How many refreshes one process runs at a time. Each holds a connection of the pool while it uses others, so without a
 * bound many refreshes could wait for each other's connections without end.
 */
const MAX_CONCURRENT_REFRESHES = 3;
/** The longest wait for the refresh of another process, in milliseconds. */
const LOCK_TIMEOUT_MS = 10_000;

/**
 * Runs refreshes with the same refresh token one at a time, in every process on the database. The first one replaces the
 * token and stores its response, encrypted. Each later one finds the stored response, which better-auth repeats for half a
 * minute. Without the lock, a simultaneous refresh would find the token replaced and the response not stored yet.
 */
export class RefreshLock {
  readonly #orm: Orm;
  readonly #local = new KeyedLock();

  constructor(orm: Orm) {
    this.#orm = orm;
  }

  async run<T>(refreshToken: string, refresh: () => Promise<T>): Promise<T> {
    const digest = createHash("sha256").update(refreshToken).digest();
    const slot = String(digest.readUInt32BE() % MAX_CONCURRENT_REFRESHES);
    return this.#local.run([slot], () =>
      this.#orm.em.fork().transactional(async (em) => {
        const db = queryBuilderOf(em);
        await sql`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`.execute(db);
        await acquireAdvisoryLock(db, `oauth refresh ${digest.toString("base64url")}`);
        return refresh();
      }),
    );
  }
}

/** The refresh token of a request to the token endpoint; `null` for every other request. */
export async function readRefreshToken(request: Request): Promise<string | null> {
  if (request.method !== "POST" || !new URL(request.url).pathname.endsWith("/oauth2/token")) return null;
  const form = new URLSearchParams(await request.clone().text());
  return form.get("grant_type") === "refresh_token" ? form.get("refresh_token") : null;
}
