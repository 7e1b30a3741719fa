import { afterAll, beforeAll } from "vitest";
import { openDiscovery, type TestDiscovery } from "./test-discovery.ts";

/** One discovery for all tests of a file. */
export function sharedDiscovery(): () => TestDiscovery {
  let discovery: TestDiscovery | undefined;
  beforeAll(async () => {
    discovery = await openDiscovery();
  });
  afterAll(() => discovery?.[Symbol.asyncDispose]());
  return () => {
    if (discovery === undefined) throw new Error("the discovery of this file has not been opened");
    return discovery;
  };
}
