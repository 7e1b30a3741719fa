import { openRemoteTestEdge } from "../support/edge/remote-edge.ts";
import { authEntriesContract } from "./auth-entries.ts";
import { edgePlatformContract } from "./edge-platform.ts";
import { edgePlatformFeaturesContract } from "./edge-platform-features.ts";
import type { EdgePlatformHarness } from "./edge-platform-harness.ts";
import { edgePlatformVariablesContract } from "./edge-platform-variables.ts";
import { sqlDatabasesContract } from "./sql-databases.ts";

edgePlatformContract("remote", openRemote);
edgePlatformFeaturesContract("remote", openRemote);
edgePlatformVariablesContract("remote", openRemote);
sqlDatabasesContract("remote", openRemote);
authEntriesContract("remote", async () => {
  const edge = await openRemoteTestEdge();
  return {
    entries: edge.ports.authEntries,
    elsewhere: edge.connect().authEntries,
    [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose](),
  };
});

async function openRemote(): Promise<EdgePlatformHarness> {
  const { t, ports, ...edge } = await openRemoteTestEdge();
  const { variables, request } = t;
  const { platform, databases } = ports;
  return { platform, databases, variables, request, [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose]() };
}
