import { callHost } from "../agents/call-host.ts";
import { type OpenHostDeps, openAgent } from "../agents/open-host.ts";
import type { HostedSkill } from "../ports/agent-host.ts";
import type { Caller } from "../shared/caller.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { type AgentSkillPosition, decodePositionCursor, encodePositionCursor } from "./skill-cursor.ts";

export interface AgentSkillPage {
  agent_id: string;
  /** Of a managed server: those of the organization. Of a gateway: those that it lists for the agent. */
  skills: HostedSkill[];
  /** What a reader has to know about the whole list; `null` for nothing. */
  note: string | null;
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/** What remains for the skills, because the other fields have to fit too. */
const SKILLS_CHARACTERS = RESPONSE_CHARACTERS - 500;

/**
 * Lists the skills of one agent: first those that it can run, and then the others with what is missing, both by name. A page
 * ends at the size limit of a response.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `invalid` for a cursor that this service did
 *   not return; `unavailable` or `conflict` when the host of the agent does not list them
 */
export async function listAgentSkills(
  access: OpenHostDeps,
  caller: Caller,
  { agent_id: agentId, cursor }: { agent_id?: string | undefined; cursor?: string | undefined },
): Promise<AgentSkillPage> {
  const after = cursor === undefined ? null : decodePositionCursor(cursor);
  const { agent, host, hostedId } = await openAgent(access, caller, agentId);
  // A host has few enough skills to sort them by what only it knows of the agent.
  const { skills: all, note } = await callHost((signal) => host.listSkills(hostedId, signal));
  const remaining = all.toSorted(compare).filter((skill) => after === null || compare(skill, after) > 0);
  const skills = takeWithinBudget(remaining, SKILLS_CHARACTERS);
  const last = skills.at(-1);
  const hasMore = last !== undefined && skills.length < remaining.length;
  return { agent_id: agent.id, skills, note, next_cursor: hasMore ? encodePositionCursor(last) : null };
}

function compare(a: AgentSkillPosition, b: AgentSkillPosition): number {
  if (a.eligible !== b.eligible) return a.eligible ? -1 : 1;
  return a.name < b.name ? -1 : Number(a.name > b.name);
}
