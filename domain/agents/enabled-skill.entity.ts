import { defineEntity, p } from "@mikro-orm/core";

/** A skill of the organization that is enabled for an agent. */
export const EnabledSkillSchema = defineEntity({
  name: "EnabledSkill",
  tableName: "enabled_skills",
  properties: {
    agentId: p.uuid().primary(),
    skillId: p.uuid().primary(),
  },
  // To delete a skill.
  indexes: [{ properties: ["skillId"] }],
});

export class EnabledSkill extends EnabledSkillSchema.class {}
EnabledSkillSchema.setClass(EnabledSkill);
