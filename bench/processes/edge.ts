/** The edge platform alone: the edge proxy, its supervisor and the apps, without a control plane. */
import type { Bundle } from "../../domain/ports/bundler.ts";
import { appsPostgres, openNodeServers } from "../../server/composition/edge.ts";
import { openBuildPlatform } from "../../server/composition/deployments.ts";
import { readConfig } from "../../server/config.ts";
import { openEmbeddedPlatform } from "../../server/platforms/embedded/open-embedded-platform.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { buildExample, buildRepository } from "../support/build-example.ts";
import { serveCommands } from "../support/serve-commands.ts";

export interface EdgeOptions {
  dataDirectory: string;
  gitBaseUrl?: string;
}

export type EdgeCommands = Awaited<ReturnType<typeof open>>["commands"];

async function open({ dataDirectory, gitBaseUrl }: EdgeOptions) {
  const { PATH, HOME } = process.env;
  const config = readConfig({ PATH, HOME, DATA_DIR: dataDirectory, GIT_BASE_URL: gitBaseUrl });
  const log = createLogger(config.logLevel);
  const platform = await openEmbeddedPlatform({
    dataDirectory,
    host: "127.0.0.1",
    port: 0,
    appsDomain: null,
    scheme: "http",
    sandbox: config.sandbox,
    nodeServers: openNodeServers(config),
    postgres: appsPostgres(config, log),
    trustedProxies: config.trustedProxies,
    variables: { read: async () => ({ version: 0, values: {}, masks: [] }) },
    log,
  });
  const buildPlatform = await openBuildPlatform(config);
  const signal = new AbortController().signal;
  const commands = {
    build: (example: string) => buildExample(buildPlatform, example),
    buildRepository: (repo: string) => buildRepository(buildPlatform, repo),
    /** Publishes a bundle as an app, and returns its URL. */
    async publish(slug: string, { code, assets, migrations }: Bundle): Promise<string> {
      await platform.databases.create(slug);
      await platform.databases.migrate(slug, migrations, signal);
      const script = { appId: slug, generation: 1, code, assets, databaseId: slug };
      return (await platform.scripts.publish(slug, script, signal)).url;
    },
    /** The port of a Worker itself, behind the edge proxy. */
    async appPort(slug: string): Promise<number | undefined> {
      const app = await platform.supervisor.acquire(slug, false);
      app?.release();
      return app && "port" in app.address ? app.address.port : undefined;
    },
    /** Stops the app. The next request starts it again. */
    stop: (slug: string) => platform.supervisor.withDatabaseClosed(slug, async () => undefined),
  };
  const close = async (): Promise<void> => {
    await platform.close();
    // The kernel keeps the folder of a mounted workspace.
    await buildPlatform.workspaces.clear();
  };
  return { commands, close };
}

await serveCommands(open);
