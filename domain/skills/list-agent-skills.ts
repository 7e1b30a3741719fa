import type { AgentRuntime } from "../agents/agent-runtime.ts";
import { selectRuntime } from "../agents/declare-runtime.ts";
import { findAgent } from "../agents/find-agent.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { type AgentSkillPosition, decodePositionCursor, encodePositionCursor } from "./skill-cursor.ts";
import type { SkillRepository } from "./skill.entity.ts";
import { findMissing, type SkillRequirements } from "./skill-requirements.ts";
import { toSource } from "./skill-view.ts";

export interface ListAgentSkillsDeps {
  db: Db;
}

export interface AgentSkill {
  name: string;
  description: string;
  /** `upload`, or the repository, branch and folder that the files come from. */
  source: string;
  /** Whether the agent can run the skill: it is enabled for the agent, and nothing is missing. */
  eligible: boolean;
  /** Why the agent cannot run it, one text for each reason. */
  missing: string[];
}

export interface AgentSkillPage {
  agent_id: string;
  skills: AgentSkill[];
  /** What a reader has to know about the whole list; `null` for nothing. */
  note: string | null;
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

const DISABLED = "disabled for this agent";
const UNDECLARED =
  "The agent has not declared its runtime, so every requirement of a skill counts as missing. PUT /v1/agents/{id}/runtime declares it.";

/** What remains for the skills, because the other fields have to fit too. */
const SKILLS_CHARACTERS = RESPONSE_CHARACTERS - 500;

/**
 * Lists the skills of the organization for one agent: first those that it can run, and then the others with what is
 * missing, both by name. A page ends at the size limit of a response.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `invalid` for a cursor that this service did
 *   not return
 */
export async function listAgentSkills(
  { db }: ListAgentSkillsDeps,
  caller: Caller,
  { agent_id: agentId, cursor }: { agent_id?: string | undefined; cursor?: string | undefined },
): Promise<AgentSkillPage> {
  const after = cursor === undefined ? null : decodePositionCursor(cursor);
  const agent = await findAgent(db, caller, agentId);
  const runtime = await selectRuntime(db, agent.id);
  const all = (await selectSkills(db, caller.orgId, agent.id)).map((row) => toAgentSkill(row, runtime));
  const remaining = all.toSorted(compare).filter((skill) => after === null || compare(skill, after) > 0);
  const skills = takeWithinBudget(remaining, SKILLS_CHARACTERS);
  const last = skills.at(-1);
  const hasMore = last !== undefined && skills.length < remaining.length;
  const lacksDeclaration = runtime === null && all.some(({ missing }) => missing.some((reason) => reason !== DISABLED));
  return {
    agent_id: agent.id,
    skills,
    note: lacksDeclaration ? UNDECLARED : null,
    next_cursor: hasMore ? encodePositionCursor(last) : null,
  };
}

interface SkillRow {
  name: string;
  description: string;
  repository: SkillRepository | null;
  requirements: SkillRequirements;
  /** `null` for a skill that is not enabled for the agent. */
  enabled: string | null;
}

/** An organization has few enough skills to sort them by what only the runtime of the agent decides. */
function selectSkills(db: Db, orgId: string, agentId: string): Promise<SkillRow[]> {
  return db
    .selectFrom("skills as skill")
    .leftJoin("enabled_skills as enabled", (join) =>
      join.onRef("enabled.skill_id", "=", "skill.id").on("enabled.agent_id", "=", agentId),
    )
    .select(["skill.name", "skill.description", "skill.repository", "skill.requirements"])
    .select("enabled.agent_id as enabled")
    .where("skill.org_id", "=", orgId)
    .execute();
}

function toAgentSkill(row: SkillRow, runtime: AgentRuntime | null): AgentSkill {
  const unmet = findMissing(row.requirements, runtime);
  const missing = row.enabled === null ? [DISABLED, ...unmet] : unmet;
  return {
    name: row.name,
    description: row.description,
    source: toSource(row.repository),
    eligible: missing.length === 0,
    missing,
  };
}

function compare(a: AgentSkillPosition, b: AgentSkillPosition): number {
  if (a.eligible !== b.eligible) return a.eligible ? -1 : 1;
  return a.name < b.name ? -1 : Number(a.name > b.name);
}
