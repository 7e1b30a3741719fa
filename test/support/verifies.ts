import { test, type TestOptions } from "vitest";
import type { HazardNumber } from "../hazards.ts";
import type { RequirementId } from "../requirements.ts";

/** The citation of a numbered hazard: a way the service could break, and must not. */
export type HazardId = `hazard.${HazardNumber}`;

export function hazard(number: HazardNumber): HazardId {
  return `hazard.${number}`;
}

/**
 * A test that holds one or more clauses of the specification (`test/requirements.ts`) or hazards (`hazard(41)`).
 * `coverage.test.ts` reads the citations from the source text, so they are literals.
 */
export function verifies(
  _ids: RequirementId | HazardId | readonly (RequirementId | HazardId)[],
  guarantee: string,
  body: () => Promise<void> | void,
  options: TestOptions = {},
): void {
  test(guarantee, options, body);
}
