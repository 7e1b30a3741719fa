import { afterAll, beforeAll } from "vitest";
import { createHarness, type Harness, type HarnessOptions } from "./harness.ts";

/** Starts one service for all tests of a file. Each test creates its own organization, so tests do not affect each other. */
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
