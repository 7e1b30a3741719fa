import { serverNotFound } from "../agents/agent-view.ts";
import { findServer } from "../agents/find-server.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { isUuid } from "../shared/ids.ts";
import { TOKEN_METRICS, type TokenCounters, toTokenCounters } from "../usage/token-counters.ts";
import { periodOf } from "../usage/usage-period.ts";
import type { ReadSessionsDeps } from "./find-session.ts";

/** What the sessions of a server or an agent have used in one month. */
export interface SessionUsage {
  message_count: number;
  tokens: TokenCounters;
}

export interface AgentUsage extends SessionUsage {
  agent_id: string;
  name: string;
}

export interface ServerUsage extends SessionUsage {
  server_id: string;
  /** The month in UTC, such as `2026-07`. */
  period: string;
  /** All agents of the server, oldest first. */
  agents: AgentUsage[];
}

/**
 * Reads what the sessions of a server and of each of its agents have used in one month, by the times of their entries. It
 * reads counters, not the sessions.
 *
 * @throws {ServiceError} `not_found` when the organization has no such server; `invalid` for a period that is not a month
 */
export async function readServerUsage(
  { db }: ReadSessionsDeps,
  caller: Caller,
  { id, period = periodOf(new Date()) }: { id: string; period?: string | undefined },
): Promise<ServerUsage> {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(period))
    throw new ServiceError("invalid", "period: must be a month, such as 2026-07.");
  // A malformed id gets the same response as an unknown one.
  if (!isUuid(id)) throw serverNotFound();
  const { id: serverId } = await findServer(db, caller, id);
  const agents = await db
    .selectFrom("agents")
    .select(["id", "name"])
    .where("server_id", "=", serverId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  const ids = agents.map((agent) => agent.id);
  const counts = await selectCounts(db, { orgId: caller.orgId, period, ids });
  return {
    server_id: serverId,
    period,
    ...toUsage(counts),
    agents: agents.map((agent) => ({
      agent_id: agent.id,
      name: agent.name,
      ...toUsage(counts.filter(({ subject_id: subjectId }) => subjectId === agent.id)),
    })),
  };
}

interface Count {
  subject_id: string;
  metric: string;
  count: string;
}

async function selectCounts(
  db: Db,
  { orgId, period, ids }: { orgId: string; period: string; ids: readonly string[] },
): Promise<Count[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom("usage_counts")
    .select(["subject_id", "metric", "count"])
    .where("org_id", "=", orgId)
    .where("period", "=", period)
    .where("metric", "in", ["session_entries", ...TOKEN_METRICS])
    .where("subject_id", "in", ids)
    .execute();
}

function toUsage(counts: readonly Count[]): SessionUsage {
  const totals: Record<string, number> = {};
  for (const { metric, count } of counts) totals[metric] = (totals[metric] ?? 0) + Number(count);
  return { message_count: totals["session_entries"] ?? 0, tokens: toTokenCounters(totals) };
}
