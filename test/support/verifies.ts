import { test, type TestOptions } from "vitest";
import type { HazardNumber } from "../hazards.ts";
import type { RequirementId } from "../requirements.ts";

/** The citation of a hazard (`test/hazards.ts`). */
export type HazardId = `hazard.${HazardNumber}`;

export function hazard(number: HazardNumber): HazardId {
  return `hazard.${number}`;
}

/**
 * Declares a test that covers one or more clauses of the specification (`test/requirements.ts`) or hazards (`hazard(41)`).
 * The citations must be literals, because `requirements-coverage.test.ts` reads them from the source text.
 */
export function verifies(
  _ids: RequirementId | HazardId | readonly (RequirementId | HazardId)[],
  guarantee: string,
  body: () => Promise<void> | void,
  options: TestOptions = {},
): void {
  test(guarantee, options, body);
}
