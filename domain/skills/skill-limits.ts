const MEBIBYTE = 1024 * 1024;

export const SKILL_LIMITS = {
  nameLength: 64,
  descriptionLength: 8000,
  compatibilityLength: 2000,
  /** The files of one skill. */
  files: 200,
  /** All files of one skill together. */
  totalBytes: 10 * MEBIBYTE,
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

/** What the format of Agent Skills recommends. A skill beyond it is stored with a warning. */
export const RECOMMENDED_LIMITS = {
  descriptionLength: 1024,
  compatibilityLength: 500,
  totalBytes: 5 * MEBIBYTE,
} as const;

/** The name of the file that makes a folder a skill. */
export const SKILL_DOCUMENT = "SKILL.md";
