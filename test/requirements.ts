import { FURTHER_REQUIREMENTS } from "./requirements/further.ts";
import { GATEWAY_REQUIREMENTS } from "./requirements/gateway.ts";
import type { Requirement } from "./requirements/requirement.ts";
import { REST_REQUIREMENTS } from "./requirements/rest.ts";

/** Every clause of the interface specification, and what the service offers beyond it, by id. */
export const REQUIREMENTS = {
  ...REST_REQUIREMENTS,
  ...GATEWAY_REQUIREMENTS,
  ...FURTHER_REQUIREMENTS,
} satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof REQUIREMENTS;
