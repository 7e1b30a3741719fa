import { GATEWAY_REQUIREMENTS } from "./requirements/gateway.ts";
import type { Requirement } from "./requirements/requirement.ts";
import { REST_REQUIREMENTS } from "./requirements/rest.ts";

/** Every clause of the interface specification, by id. */
export const REQUIREMENTS = { ...REST_REQUIREMENTS, ...GATEWAY_REQUIREMENTS } satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof REQUIREMENTS;
