import { type EntityManager, LockMode } from "@mikro-orm/core";
import { removeEnabledSkills } from "../agents/remove-enabled-skills.ts";
import { queryBuilderOf } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { inTransaction } from "../shared/transaction.ts";
import { Skill } from "./skill.entity.ts";
import { SkillFile } from "./skill-file.entity.ts";
import { isSkillName, skillNotFound } from "./skill-rules.ts";

export interface DeleteSkillDeps {
  em: EntityManager;
}

/**
 * Deletes a skill with its files, for all agents.
 *
 * @throws {ServiceError} `not_found` when the organization has no such skill
 */
export async function deleteSkill(
  { em: root }: DeleteSkillDeps,
  { orgId }: Caller,
  name: string,
): Promise<{ status: "deleted" }> {
  if (!isSkillName(name)) throw skillNotFound();
  await inTransaction(root, async (em) => {
    const skill = await em.findOne(Skill, { orgId, name }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (skill === null) throw skillNotFound();
    await removeEnabledSkills(queryBuilderOf(em), "skill_id", [skill.id]);
    await em.nativeDelete(SkillFile, { skillId: skill.id });
    await em.nativeDelete(Skill, { id: skill.id });
  });
  return { status: "deleted" };
}
