import { openTestCluster } from "../support/edge/cluster-edge.ts";
import { edgePlatformBindingsContract } from "./edge-platform-bindings.ts";
import { edgePlatformContract } from "./edge-platform.ts";
import { edgePlatformFeaturesContract } from "./edge-platform-features.ts";
import type { EdgePlatformHarness } from "./edge-platform-harness.ts";
import { edgePlatformVariablesContract } from "./edge-platform-variables.ts";

edgePlatformContract("cluster", openClusterEdge);
edgePlatformBindingsContract("cluster", openClusterEdge);
edgePlatformFeaturesContract("cluster", openClusterEdge);
edgePlatformVariablesContract("cluster", openClusterEdge);

async function openClusterEdge(): Promise<EdgePlatformHarness> {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await openTestCluster());
  const { platform, variables, request } = await cluster.openEdge();
  const { scripts, databases } = platform;
  const resources = opening.move();
  return { platform: scripts, databases, variables, request, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
