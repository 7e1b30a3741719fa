import { openTestPlatform } from "../support/edge/test-platform.ts";
import { edgePlatformBindingsContract } from "./edge-platform-bindings.ts";
import { edgePlatformContract } from "./edge-platform.ts";
import { edgePlatformVariablesContract } from "./edge-platform-variables.ts";
import { edgePlatformFeaturesContract } from "./edge-platform-features.ts";
import type { EdgePlatformHarness } from "./edge-platform-harness.ts";

edgePlatformContract("embedded", openEmbedded);
edgePlatformBindingsContract("embedded", openEmbedded);
edgePlatformFeaturesContract("embedded", openEmbedded);
edgePlatformVariablesContract("embedded", openEmbedded);

async function openEmbedded(): Promise<EdgePlatformHarness> {
  const t = await openTestPlatform();
  const { scripts, databases } = t.platform;
  const { variables, request } = t;
  return { platform: scripts, databases, variables, request, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}
