import { ServiceError } from "../shared/errors.ts";
import { checkStorableText } from "../shared/storable-text-rules.ts";

export const PROJECT_KINDS = ["client", "engagement", "capability"] as const;

export type ProjectKind = (typeof PROJECT_KINDS)[number];

export const PROJECT_LIMITS = {
  nameCharacters: 100,
  descriptionCharacters: 500,
  projectsOfOrganization: 1000,
  mountsOfAgent: 100,
  /** In one request that creates a project. */
  agentsOfRequest: 100,
} as const;

/** @throws {ServiceError} `invalid` for a description that is too long, or that the database cannot store */
export function checkDescription(description: string): void {
  const { descriptionCharacters } = PROJECT_LIMITS;
  if (description.length > descriptionCharacters)
    throw new ServiceError(
      "invalid",
      `description: has ${description.length} characters, and at most ${descriptionCharacters} are allowed.`,
    );
  checkStorableText("description", description);
}
