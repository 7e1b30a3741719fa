import { EdgeClient } from "../../server/platforms/remote/edge-client.ts";
import { EdgeServer } from "../../server/platforms/remote/edge-server.ts";
import { openRemoteEdge } from "../../server/platforms/remote/remote-edge.ts";
import { openTestPlatform } from "../support/edge/test-platform.ts";
import { authEntriesContract } from "./auth-entries.ts";
import { edgePlatformContract } from "./edge-platform.ts";
import { edgePlatformFeaturesContract } from "./edge-platform-features.ts";
import type { EdgePlatformHarness } from "./edge-platform-harness.ts";
import { edgePlatformVariablesContract } from "./edge-platform-variables.ts";
import { sqlDatabasesContract } from "./sql-databases.ts";

const TOKEN_SECRET = "s".repeat(32);
const log = { warn: () => undefined };

edgePlatformContract("remote", openPlatform);
edgePlatformFeaturesContract("remote", openPlatform);
edgePlatformVariablesContract("remote", openPlatform);
sqlDatabasesContract("remote", openPlatform);
authEntriesContract("remote", async () => {
  const remote = await openRemote();
  const elsewhere = remote.connect();
  return { entries: remote.ports.authEntries, elsewhere: elsewhere.authEntries, [Symbol.asyncDispose]: remote.close };
});

async function openPlatform(): Promise<EdgePlatformHarness> {
  const { t, ports, close } = await openRemote();
  const { variables, request } = t;
  return { platform: ports.platform, databases: ports.databases, variables, request, [Symbol.asyncDispose]: close };
}

/** An embedded platform behind the internal port of an edge. */
async function openRemote() {
  await using opening = new AsyncDisposableStack();
  const t = opening.use(await openTestPlatform());
  const { scripts, ...platform } = t.platform;
  const server = opening.use(
    await EdgeServer.listen({
      ...{ ports: { ...platform, platform: scripts }, tokenSecret: TOKEN_SECRET, log },
      dataDirectory: t.dataDirectory,
      ...{ host: "127.0.0.1", port: 0, installation: { id: "installation", epoch: 1, state: "active" } },
    }),
  );
  const connect = () => {
    const client = opened.use(new EdgeClient({ url: `https://127.0.0.1:${server.port}`, tokenSecret: TOKEN_SECRET }));
    return openRemoteEdge({ client, urlOf: (slug) => scripts.urlOf(slug), log });
  };
  const opened = opening.move();
  return { t, server, ports: connect(), connect, close: () => opened.disposeAsync() };
}
