import { ServiceError } from "../shared/errors.ts";

const MEBIBYTE = 1024 * 1024;

export const SKILL_LIMITS = {
  nameLength: 64,
  descriptionLength: 1024,
  compatibilityLength: 500,
  /** The files of one skill. */
  files: 200,
  /** All files of one skill together. */
  totalBytes: 5 * MEBIBYTE,
  /** The SKILL.md, which an agent reads as a whole. */
  documentBytes: 256 * 1024,
  frontmatterBytes: 16 * 1024,
  /** Of one file, relative to the folder of the skill, in UTF-8. */
  pathBytes: 255,
  /** The segments of a path, including the file. */
  pathDepth: 8,
  skillsOfOrganization: 200,
  /** All skills of an organization together. */
  organizationBytes: 200 * MEBIBYTE,
} as const;

/** The name of the file that makes a folder a skill. */
export const SKILL_DOCUMENT = "SKILL.md";

export const NAME_RULE = `must have 1 to ${SKILL_LIMITS.nameLength} lowercase letters, digits and hyphens, without a hyphen at either end and without two in a row`;

/** Whether a text can be the name of a skill (agentskills.io, Specification). */
export function isSkillName(name: string): boolean {
  return name.length <= SKILL_LIMITS.nameLength && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name);
}

/** The same error for a skill that never existed and for any of another organization. */
export function skillNotFound(): ServiceError {
  return new ServiceError("not_found", "Skill not found. GET /v1/skills lists the skills of the organization.");
}
