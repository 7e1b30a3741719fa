import type { EntityManager } from "@mikro-orm/core";
import type { Caller } from "../shared/caller.ts";
import { checkDisplayName } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { AgentServer } from "./agent-server.entity.ts";
import { Agent } from "./agent.entity.ts";
import { agentNotFound, type AgentView, serverNotFound, toAgentView } from "./agent-view.ts";
import { checkModel } from "./create-agent.ts";

export interface UpdateAgentDeps {
  em: EntityManager;
}

export interface UpdateAgent {
  id: string;
  name?: string | undefined;
  /** `null` when it is not known. */
  model?: string | null | undefined;
}

/**
 * Changes the name or the model of an agent. Its id and its token stay.
 *
 * @throws {ServiceError} `invalid` for a value that is not allowed; `not_found` when the organization has no such agent
 */
export async function updateAgent(
  deps: UpdateAgentDeps,
  { orgId }: Caller,
  { id, name, model }: UpdateAgent,
): Promise<AgentView & { server_id: string }> {
  if (name === undefined && model === undefined)
    throw new ServiceError("invalid", "Nothing to change. Send one or more of: name, model.");
  if (name !== undefined) checkDisplayName(name);
  if (model !== undefined) checkModel(model);
  const em = deps.em.fork();
  const agent = await em.findOne(Agent, { id, orgId });
  if (agent === null) throw agentNotFound();
  em.assign(agent, { name: name ?? agent.name, model: model === undefined ? agent.model : model });
  await em.flush();
  return { ...toAgentView(agent), server_id: agent.serverId };
}

/**
 * Changes the name of a server.
 *
 * @throws {ServiceError} `invalid` for a name that is not allowed; `not_found` when the organization has no such server
 */
export async function updateServer(
  deps: UpdateAgentDeps,
  { orgId }: Caller,
  { id, name }: { id: string; name: string },
): Promise<{ server_id: string; name: string }> {
  checkDisplayName(name);
  const changed = await deps.em.fork().nativeUpdate(AgentServer, { id, orgId }, { name });
  if (changed === 0) throw serverNotFound();
  return { server_id: id, name };
}
