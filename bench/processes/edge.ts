/** The edge platform alone: the edge proxy, its supervisor and the apps, without a control plane. */
import type { Bundle } from "../../domain/ports/bundler.ts";
import { appsPostgres, openNodeServers } from "../../server/composition/edge.ts";
import { openClusterEdge } from "../../server/composition/edge-cluster.ts";
import { checkEdgeFolder } from "../../server/composition/edge-folder.ts";
import { openBuildPlatform } from "../../server/composition/deployments.ts";
import { readConfig } from "../../server/config.ts";
import { openEmbeddedPlatform } from "../../server/platforms/embedded/open-embedded-platform.ts";
import type { BucketSettings } from "../../server/platforms/embedded/cluster/bucket-client.ts";
import { NO_GROUPS } from "../../server/sandbox/cgroups/control-groups.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { buildExample, buildRepository } from "../support/build-example.ts";
import { serveCommands } from "../support/serve-commands.ts";

const SECRET = "the secret of the benchmark's installation";

export interface EdgeOptions {
  dataDirectory: string;
  gitBaseUrl?: string;
  /** The object store that several edges share. Without it, there is one edge. */
  cluster?: BucketSettings;
}

export type EdgeCommands = Awaited<ReturnType<typeof open>>["commands"];

async function open({ dataDirectory, gitBaseUrl, cluster }: EdgeOptions) {
  await using opening = new AsyncDisposableStack();
  const { PATH, HOME } = process.env;
  const shared = cluster && clusterSettings(cluster);
  const config = readConfig({ PATH, HOME, DATA_DIR: dataDirectory, GIT_BASE_URL: gitBaseUrl, ...shared });
  const log = createLogger(config.logLevel);
  await checkEdgeFolder(config);
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
    ...(cluster && {
      createStores: await openClusterEdge(config, { controlGroups: NO_GROUPS, tokenSecret: SECRET, log }, opening),
    }),
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
    /** The port of the edge proxy. */
    port: () => platform.port,
    /** The port of a Worker itself, behind the edge proxy. */
    async appPort(slug: string): Promise<number | undefined> {
      const app = await platform.supervisor.acquire(slug, false);
      app?.release();
      return app && "port" in app.address ? app.address.port : undefined;
    },
    /** Stops the app. The next request starts it again. */
    stop: (slug: string) => platform.supervisor.withDatabaseClosed(slug, async () => undefined),
  };
  const opened = opening.move();
  const close = async (): Promise<void> => {
    await platform.close();
    await opened.disposeAsync();
    // The kernel keeps the folder of a mounted workspace.
    await buildPlatform.workspaces.clear();
  };
  return { commands, close };
}

/** An edge alone uses no database, but its settings name those of the whole installation. */
function clusterSettings({ endpoint, bucket, region, accessKeyId, secretAccessKey }: BucketSettings) {
  return {
    ...{ ROLES: "edge", INTERNAL_PORT: "3002", EDGE_CLUSTER: "on", EDGE_CLUSTER_HOST: "127.0.0.1" },
    ...{ APPS_DOMAIN: "localhost", TOKEN_SECRET: SECRET },
    ...{ DATABASE_URL: "postgresql://127.0.0.1/unused", APPS_DATABASE_URL: "postgresql://127.0.0.2/unused" },
    ...{ OBJECT_STORE: "s3", S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_REGION: region },
    ...{ S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey },
  };
}

await serveCommands(open);
