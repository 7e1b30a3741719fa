import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { HostedAgent, HostedAgents } from "../ports/agent-host.ts";
import { inTransaction } from "../shared/transaction.ts";
import { finishRemoval, removeAgents, type RemoveAgentsDeps } from "./delete-agent.ts";

export interface StoreHostedAgentsDeps extends RemoveAgentsDeps {
  em: EntityManager;
}

export interface ListedServer {
  id: string;
  orgId: string;
  connectionVersion: number;
}

/**
 * Stores the agents that a gateway has listed: adds new ones, changes names and models, and removes those that are not listed
 * any more with everything that belongs to them. Then the server is `ready`. All of it commits together. Nothing changes when
 * the server was deleted, or connects to another gateway since.
 *
 * @param hosted - all agents of the gateway
 */
export async function storeHostedAgents(
  { em: root, ...deps }: StoreHostedAgentsDeps,
  server: ListedServer,
  hosted: HostedAgents,
): Promise<void> {
  const removed = await inTransaction(root, async (em) => {
    const tx = queryBuilderOf(em);
    if (!(await markReady(tx, server))) return [];
    const stored = await selectAgents(tx, server.id);
    await bindMainAgent(tx, stored, hosted.mainId);
    const gone = stored.filter(({ externalId }) => !hosted.agents.some(({ id }) => id === externalId));
    const ids = gone.map(({ id }) => id);
    await removeAgents(em, server.orgId, ids);
    await changeAgents(tx, stored, hosted);
    await addAgents(tx, server, stored, hosted);
    return ids;
  });
  if (removed.length > 0) await finishRemoval(deps, server.orgId, removed);
}

interface StoredAgent {
  id: string;
  externalId: string | null;
  name: string;
  model: string | null;
  isMain: boolean;
}

/** Locks the row of the server until the transaction ends. */
async function markReady(tx: Db, { id, connectionVersion }: ListedServer): Promise<boolean> {
  const current = await tx
    .selectFrom("agent_servers")
    .select("status")
    .where("id", "=", id)
    .where("connection_version", "=", connectionVersion)
    .forUpdate()
    .executeTakeFirst();
  if (current === undefined) return false;
  if (current.status !== "ready")
    await tx
      .updateTable("agent_servers")
      .set({ status: "ready", status_since: new Date().toISOString() as never, status_message: null })
      .where("id", "=", id)
      .execute();
  return true;
}

function selectAgents(tx: Db, serverId: string): Promise<StoredAgent[]> {
  return tx
    .selectFrom("agents")
    .select(["id", "external_id as externalId", "name", "model", "is_main as isMain"])
    .where("server_id", "=", serverId)
    .execute();
}

/** The agent that was created with the server stands for the main agent of the gateway. */
async function bindMainAgent(tx: Db, stored: readonly StoredAgent[], mainId: string): Promise<void> {
  const unbound = stored.find(({ externalId }) => externalId === null);
  if (unbound === undefined) return;
  unbound.externalId = mainId;
  await tx.updateTable("agents").set({ external_id: mainId }).where("id", "=", unbound.id).execute();
}

async function changeAgents(tx: Db, stored: readonly StoredAgent[], { mainId, agents }: HostedAgents): Promise<void> {
  const changes = stored.flatMap((agent) => {
    const listed = agents.find(({ id }) => id === agent.externalId);
    return listed === undefined || isSame(agent, listed, mainId) ? [] : [{ agent, listed }];
  });
  // Of two agents that exchange their roles, the old main agent is changed first: a server never has two.
  for (const { agent, listed } of changes.toSorted((a, b) => Number(b.agent.isMain) - Number(a.agent.isMain)))
    await tx
      .updateTable("agents")
      .set({ name: listed.name, model: listed.model, is_main: listed.id === mainId })
      .where("id", "=", agent.id)
      .execute();
}

function isSame(agent: StoredAgent, listed: HostedAgent, mainId: string): boolean {
  return agent.name === listed.name && agent.model === listed.model && agent.isMain === (listed.id === mainId);
}

async function addAgents(
  tx: Db,
  { id: serverId, orgId }: ListedServer,
  stored: readonly StoredAgent[],
  { mainId, agents }: HostedAgents,
): Promise<void> {
  const added = agents.filter(({ id }) => !stored.some(({ externalId }) => externalId === id));
  if (added.length === 0) return;
  const createdAt = new Date().toISOString() as never;
  const rows = added.map(({ id, name, model }) => ({
    id: randomUUID(),
    org_id: orgId,
    server_id: serverId,
    external_id: id,
    name,
    model,
    is_main: id === mainId,
    created_at: createdAt,
  }));
  await tx.insertInto("agents").values(rows).execute();
}
