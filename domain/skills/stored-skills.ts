import type { AgentRuntime } from "../agents/agent-runtime.ts";
import { selectRuntime } from "../agents/declare-runtime.ts";
import type { Db } from "../database-types.ts";
import type { HostedSkill, HostedSkills } from "../ports/agent-host.ts";
import type { SkillRepository } from "./skill.entity.ts";
import { findMissing, type SkillRequirements } from "./skill-requirements.ts";
import { toSource } from "./skill-view.ts";

const DISABLED = "disabled for this agent";
const UNDECLARED =
  "The agent has not declared its runtime, so it is unknown whether it meets the requirements of a skill. PUT /v1/agents/{id}/runtime declares it.";

/** Lists the skills of an organization for an agent of a managed server, also those that it cannot run. */
export async function listStoredSkills(db: Db, orgId: string, agentId: string): Promise<HostedSkills> {
  const runtime = await selectRuntime(db, agentId);
  const skills = (await selectSkills(db, orgId, agentId)).map((row) => toHostedSkill(row, runtime));
  const isUndeclared = runtime === null && skills.some(({ missing }) => missing.some((reason) => reason !== DISABLED));
  return { skills, note: isUndeclared ? UNDECLARED : null };
}

interface SkillRow {
  name: string;
  description: string;
  repository: SkillRepository | null;
  requirements: SkillRequirements;
  /** `null` for a skill that is not enabled for the agent. */
  enabled: string | null;
}

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

function toHostedSkill(row: SkillRow, runtime: AgentRuntime | null): HostedSkill {
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
