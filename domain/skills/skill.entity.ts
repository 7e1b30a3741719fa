import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { SkillRequirements } from "./skill-requirements.ts";

/** Where the files of a skill come from; `null` for an upload. */
export interface SkillRepository {
  repo: string;
  /** The connected git host that has it; `null` or absent for the service's own. */
  host?: string | null;
  /** `null` for the default of the repository. */
  branch: string | null;
  /** The folder of the skill; `.` for the root. */
  path: string;
  commit: string;
}

/** A skill of an organization: a folder with a SKILL.md, in the Agent Skills format. */
export const SkillSchema = defineEntity({
  name: "Skill",
  tableName: "skills",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    orgId: p.uuid(),
    name: p.string(),
    description: p.text(),
    license: p.text().nullable(),
    compatibility: p.text().nullable(),
    allowedTools: p.text().nullable(),
    /** The field `metadata` of the SKILL.md. */
    metadata: p.json().$type<Record<string, unknown>>(),
    requirements: p.json().$type<SkillRequirements>(),
    repository: p.json().$type<SkillRepository>().nullable(),
    /** The SHA-256 of paths and contents, in hex. */
    contentHash: p.string(),
    fileCount: p.integer(),
    sizeBytes: p.integer(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    updatedAt: p.datetime(3),
  },
  uniques: [{ properties: ["orgId", "name"] }],
});

export class Skill extends SkillSchema.class {}
SkillSchema.setClass(Skill);
