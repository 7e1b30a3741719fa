import { afterAll, beforeAll } from "vitest";
import { createHarness, type Harness, type HarnessOptions } from "./harness.ts";

/** One service for all tests of a file; each test brings an organization of its own, so none sees another's. */
export function sharedHarness(options?: HarnessOptions): () => Harness {
  let harness: Harness | undefined;
  beforeAll(async () => {
    harness = await createHarness(options);
  });
  afterAll(() => harness?.[Symbol.asyncDispose]());
  return () => {
    if (harness === undefined) throw new Error("the service of this file has not started");
    return harness;
  };
}
