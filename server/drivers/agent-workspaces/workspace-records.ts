import type { SqlEntityManager } from "@mikro-orm/sql";
import { sql } from "kysely";
import type { WorkspaceId } from "../../../domain/ports/agent-workspaces.ts";

/** How long a lease lasts after its last renewal, in seconds. */
export const LEASE_SECONDS = 10;

export interface AcquiredLease {
  /** Grows with every lease, also with those of a restored database: it follows the clock. */
  fencingToken: number;
  archiveKey: string | null;
}

/**
 * The rows of workspaces: which archive is the current one, and which program may replace it. Leases are on the clock of the
 * database, so clocks of machines do not matter.
 */
export class WorkspaceRecords {
  readonly #em: SqlEntityManager;

  constructor(em: SqlEntityManager) {
    this.#em = em;
  }

  /** Returns the key of the current archive; `null` without files. */
  async findArchive(id: WorkspaceId): Promise<string | null> {
    const [row] = await this.#run<{ archive_key: string | null }>(
      sql`select archive_key from agent_workspaces where ${isOf(id)}`,
    );
    return row?.archive_key ?? null;
  }

  /** Gives the caller the lease, or returns `null` while another one has it. */
  async acquire({ orgId, agentId }: WorkspaceId): Promise<AcquiredLease | null> {
    const until = sql`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;
    const now = sql`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;
    const [row] = await this.#run<{ token: number; archive_key: string | null }>(sql`
      insert into agent_workspaces as w (agent_id, org_id, archive_key, bytes, fencing_token, leased_until)
      values (${agentId}, ${orgId}, null, 0, ${now}, ${until})
      on conflict (org_id, agent_id) do update
        set fencing_token = greatest(w.fencing_token + 1, excluded.fencing_token), leased_until = excluded.leased_until
        where w.leased_until is null or w.leased_until < clock_timestamp()
      returning fencing_token::float8 as token, archive_key`);
    return row === undefined ? null : { fencingToken: row.token, archiveKey: row.archive_key };
  }

  /** @returns whether the caller still has the lease */
  async renew(id: WorkspaceId, fencingToken: number): Promise<boolean> {
    const rows = await this.#run(sql`
      update agent_workspaces set leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
      where ${isOf(id)} and fencing_token = ${fencingToken} returning 1`);
    return rows.length > 0;
  }

  /**
   * Makes an archive the current one, or removes the files with `null`.
   *
   * @returns `"lost"` when another program has got the lease since, `"removed"` when the workspace was removed
   */
  async commit(
    id: WorkspaceId,
    fencingToken: number,
    archive: { key: string; bytes: number } | null,
  ): Promise<"done" | "lost" | "removed"> {
    const rows = await this.#run(sql`
      update agent_workspaces set archive_key = ${archive?.key ?? null}, bytes = ${archive?.bytes ?? 0}
      where ${isOf(id)} and fencing_token = ${fencingToken} returning 1`);
    if (rows.length > 0) return "done";
    const remaining = await this.#run(sql`select 1 from agent_workspaces where ${isOf(id)}`);
    return remaining.length > 0 ? "lost" : "removed";
  }

  async release(id: WorkspaceId, fencingToken: number): Promise<void> {
    await this.#run(sql`
      update agent_workspaces set leased_until = null where ${isOf(id)} and fencing_token = ${fencingToken}`);
  }

  /** Ends all leases, for a process that knows that no other one is running. */
  async releaseAll(): Promise<void> {
    await this.#run(sql`update agent_workspaces set leased_until = null where leased_until is not null`);
  }

  /** Adds the archive of an earlier version, unless the workspace has files. Safe to repeat. */
  async addImported({ orgId, agentId }: WorkspaceId, { key, bytes }: { key: string; bytes: number }): Promise<void> {
    await this.#run(sql`
      insert into agent_workspaces as w (agent_id, org_id, archive_key, bytes, fencing_token, leased_until)
      values (${agentId}, ${orgId}, ${key}, ${bytes}, 0, null)
      on conflict (org_id, agent_id) do update set archive_key = excluded.archive_key, bytes = excluded.bytes
        where w.archive_key is null`);
  }

  async remove(id: WorkspaceId): Promise<void> {
    await this.#run(sql`delete from agent_workspaces where ${isOf(id)}`);
  }

  /** Returns the size of the archives of an organization, in bytes. */
  async measure(orgId: string): Promise<number> {
    const [row] = await this.#run<{ bytes: number }>(
      sql`select coalesce(sum(bytes), 0)::float8 as bytes from agent_workspaces where org_id = ${orgId}`,
    );
    return row?.bytes ?? 0;
  }

  async listAll(): Promise<WorkspaceId[]> {
    const rows = await this.#run<{ org_id: string; agent_id: string }>(
      sql`select org_id, agent_id from agent_workspaces`,
    );
    return rows.map((row) => ({ orgId: row.org_id, agentId: row.agent_id }));
  }

  async #run<Row>(query: ReturnType<typeof sql<Row>>): Promise<Row[]> {
    return (await query.execute(this.#em.fork().getKysely())).rows;
  }
}

function isOf({ orgId, agentId }: WorkspaceId) {
  return sql`org_id = ${orgId} and agent_id = ${agentId}`;
}
