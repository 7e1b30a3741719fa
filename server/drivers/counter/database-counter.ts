import type { SqlEntityManager } from "@mikro-orm/sql";
import { sql } from "kysely";
import type { Counter, Quota, QuotaState } from "../../../domain/ports/counter.ts";

/** The state of a window, as the database computes it. */
interface WindowRow {
  allowed: boolean;
  taken: number;
  /** Seconds until the oldest event leaves the window. */
  reset: number;
}

/**
 * Counts in the service's database, with one statement and on the clock of the database: processes share exact counts, and
 * a wrong clock of one process has no effect.
 */
export class DatabaseCounter implements Counter {
  readonly #em: SqlEntityManager;

  constructor(em: SqlEntityManager) {
    this.#em = em;
  }

  async consume({ key, limit, windowSeconds }: Quota): Promise<QuotaState> {
    const span = sql`make_interval(secs => ${windowSeconds})`;
    const fresh = sql`array(select t from unnest(w.taken) as t where t > clock_timestamp() - ${span} order by t)`;
    const { rows } = await sql<WindowRow>`
      insert into rate_limit_windows as w (key, taken, allowed, expires_at)
      values (${key}, array[clock_timestamp()], true, clock_timestamp() + ${span})
      on conflict (key) do update set
        allowed = cardinality(${fresh}) < ${limit},
        taken = case when cardinality(${fresh}) < ${limit} then ${fresh} || clock_timestamp() else ${fresh} end,
        expires_at = case when cardinality(${fresh}) < ${limit} then clock_timestamp() + ${span} else w.expires_at end
      returning allowed, cardinality(taken)::int as taken,
        extract(epoch from taken[1] + ${span} - clock_timestamp())::float8 as reset`.execute(
      this.#em.fork().getKysely(),
    );
    return toQuotaState(rows[0], limit);
  }

  async peek({ key, limit, windowSeconds }: Quota): Promise<QuotaState> {
    const span = sql`make_interval(secs => ${windowSeconds})`;
    const { rows } = await sql<WindowRow>`
      select count(*)::int < ${limit} as allowed, count(*)::int as taken,
        coalesce(extract(epoch from min(t) + ${span} - clock_timestamp()), 0)::float8 as reset
      from rate_limit_windows w, unnest(w.taken) as t
      where w.key = ${key} and t > clock_timestamp() - ${span}`.execute(this.#em.fork().getKysely());
    return toQuotaState(rows[0], limit);
  }
}

function toQuotaState(row: WindowRow | undefined, limit: number): QuotaState {
  if (row === undefined) throw new Error("the database returned no rate limit window");
  const resetSeconds = row.taken === 0 ? 0 : Math.max(1, Math.ceil(row.reset));
  return { allowed: row.allowed, remaining: Math.max(0, limit - row.taken), resetSeconds };
}
