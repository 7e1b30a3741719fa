import { afterAll, beforeAll } from "vitest";
import { openDiscovery, type TestDiscovery } from "./test-discovery.ts";

/** Opens one discovery for all tests of a file. */
export function sharedDiscovery(): () => TestDiscovery {
  let discovery: TestDiscovery | undefined;
  beforeAll(async () => {
    discovery = await openDiscovery();
  });
  afterAll(() => discovery?.[Symbol.asyncDispose]());
  return () => {
    if (discovery === undefined) throw new Error("The discovery of this file is not open yet");
    return discovery;
  };
}
