import { defineEntity, p } from "@mikro-orm/core";

/** A file of a skill. */
export const SkillFileSchema = defineEntity({
  name: "SkillFile",
  tableName: "skill_files",
  properties: {
    skillId: p.uuid().primary(),
    /** Relative to the folder of the skill. */
    path: p.string().primary(),
    content: p.blob(),
  },
});

export class SkillFile extends SkillFileSchema.class {}
SkillFileSchema.setClass(SkillFile);
