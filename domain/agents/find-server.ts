import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { serverNotFound } from "./agent-view.ts";
import { findAgent } from "./find-agent.ts";

/**
 * Returns the id of the server that a call is about: the given one; without it, the server of a gateway token's agent, and
 * otherwise the organization's first server.
 *
 * @throws {ServiceError} `not_found` when the organization has no such server
 */
export async function findServerId(db: Db, caller: Caller, serverId: string | undefined): Promise<string> {
  if (serverId === undefined) return (await findAgent(db, caller, undefined)).serverId;
  const server = await db
    .selectFrom("agent_servers")
    .select("id")
    .where("id", "=", serverId)
    .where("org_id", "=", caller.orgId)
    .executeTakeFirst();
  if (server === undefined) throw serverNotFound();
  return server.id;
}
