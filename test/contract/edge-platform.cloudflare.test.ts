import { openOnEmulator } from "../support/cloudflare/open-on-emulator.ts";
import { edgePlatformContract } from "./edge-platform.ts";
import { edgePlatformFeaturesContract } from "./edge-platform-features.ts";
import type { EdgePlatformHarness } from "./edge-platform-harness.ts";
import { edgePlatformVariablesContract } from "./edge-platform-variables.ts";

edgePlatformContract("Cloudflare", openCloudflare, { readsOutput: false, limitsMemory: false });
edgePlatformFeaturesContract("Cloudflare", openCloudflare);
edgePlatformVariablesContract("Cloudflare", openCloudflare);

async function openCloudflare(): Promise<EdgePlatformHarness> {
  const t = await openOnEmulator();
  const { scripts: platform, databases } = t.platform;
  const { variables, request } = t;
  return { platform, databases, variables, request, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}
