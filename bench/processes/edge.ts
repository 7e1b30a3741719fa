/** The embedded edge platform without the control plane: the edge proxy, the supervisor and the apps. */
import path from "node:path";
import type { Bundle } from "../../domain/ports/bundler.ts";
import { openBuildPlatform } from "../../server/composition/deployments.ts";
import { readConfig } from "../../server/config.ts";
import { FilesystemAuthEntries } from "../../server/platforms/embedded/auth-entries.ts";
import { openEmbeddedEdge } from "../../server/platforms/embedded/open-embedded-platform.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { serveCommands } from "../support/serve-commands.ts";
import { buildExample } from "../support/build-example.ts";

export interface EdgeOptions {
  dataDirectory: string;
}

export type EdgeCommands = Awaited<ReturnType<typeof open>>["commands"];

async function open({ dataDirectory }: EdgeOptions) {
  const { PATH, HOME } = process.env;
  const config = readConfig({ PATH, HOME, DATA_DIR: dataDirectory });
  const entries = new FilesystemAuthEntries(path.join(dataDirectory, "auth-entries"));
  const listen = { host: "127.0.0.1", port: 0, appsDomain: null, scheme: "http", sandbox: config.sandbox } as const;
  const log = createLogger(config.logLevel);
  const root = path.join(dataDirectory, "edge");
  const edge = await openEmbeddedEdge({ ...listen, root, trustedProxies: config.trustedProxies, entries, log });
  const buildPlatform = openBuildPlatform(config);
  const signal = new AbortController().signal;
  const commands = {
    build: (example: string) => buildExample(buildPlatform, example),
    /** Publishes a bundle as a new app and returns its URL. */
    async publish(slug: string, { scriptPath, assets, migrations }: Bundle): Promise<string> {
      await edge.databases.create(slug);
      await edge.databases.migrate(slug, migrations, signal);
      const script = { appId: slug, generation: 1, scriptPath, assets, databaseId: slug };
      return (await edge.platform.publish(slug, script, signal)).url;
    },
    /** Returns the app's own port, to which the edge proxy connects. */
    async appPort(slug: string): Promise<number | undefined> {
      const lease = await edge.supervisor.acquire(slug);
      lease?.release();
      return lease?.port;
    },
    /** Stops the app. The next request starts it again. */
    stop: (slug: string) => edge.supervisor.withDatabaseAtRest(slug, async () => undefined),
  };
  return { commands, close: () => edge.close() };
}

await serveCommands(open);
