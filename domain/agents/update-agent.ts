import type { EntityManager } from "@mikro-orm/core";
import type { Caller } from "../shared/caller.ts";
import { checkDisplayName } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { AgentServer } from "./agent-server.entity.ts";
import { Agent } from "./agent.entity.ts";
import { agentNotFound, type AgentView, checkIsManaged, toAgentView } from "./agent-view.ts";
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
 * @throws {ServiceError} `invalid` for a value that is not allowed; `not_found` when the organization has no such agent;
 *   `conflict` for an agent of a gateway
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
  checkIsManaged(await em.findOneOrFail(AgentServer, { id: agent.serverId }));
  em.assign(agent, { name: name ?? agent.name, model: model === undefined ? agent.model : model });
  await em.flush();
  return { ...toAgentView(agent), server_id: agent.serverId };
}
