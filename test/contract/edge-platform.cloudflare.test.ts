import { openOnEmulator } from "../support/cloudflare/open-on-emulator.ts";
import { edgePlatformContract } from "./edge-platform.ts";
import { edgePlatformFeaturesContract } from "./edge-platform-features.ts";
import type { EdgePlatformHarness } from "./edge-platform-harness.ts";
import { edgePlatformVariablesContract } from "./edge-platform-variables.ts";

edgePlatformContract("Cloudflare", openCloudflare);
edgePlatformFeaturesContract("Cloudflare", openCloudflare);
edgePlatformVariablesContract("Cloudflare", openCloudflare);

async function openCloudflare(): Promise<EdgePlatformHarness> {
  const t = await openOnEmulator();
  const { scripts: platform, databases } = t.platform;
  const { variables, request } = t;
  const limits = { readsOutput: false, limitsMemory: false } as const;
  return { platform, databases, variables, request, ...limits, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}
