import { ServiceError } from "../shared/errors.ts";
import { SKILL_LIMITS } from "./skill-limits.ts";

export const NAME_RULE = `must have 1 to ${SKILL_LIMITS.nameLength} lowercase letters, digits and hyphens, without a hyphen at either end and without two in a row`;

/** Whether a text can be the name of a skill (agentskills.io, Specification). */
export function isSkillName(name: string): boolean {
  return name.length <= SKILL_LIMITS.nameLength && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name);
}

/** The same error for a skill that never existed and for any of another organization. */
export function skillNotFound(): ServiceError {
  return new ServiceError("not_found", "Skill not found. GET /v1/skills lists the skills of the organization.");
}
