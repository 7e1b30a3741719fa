/** The whole service, as `npm start` runs it, and what a benchmark has to do inside of it. */
import { randomUUID } from "node:crypto";
import { App } from "../../domain/apps/app.entity.ts";
import { slugFor } from "../../domain/apps/slug.ts";
import { foundOrganization } from "../../domain/organizations/found-organization.ts";
import { readConfig } from "../../server/config.ts";
import { createLogger } from "../../server/logger.ts";
import { startService } from "../../server/service.ts";
import { serve } from "../support/process-server.ts";
import { buildExample } from "./build-example.ts";
import { registerApps } from "./register-apps.ts";

export interface ServiceOptions {
  dataDirectory: string;
  /** Left out for the embedded database. */
  databaseUrl?: string;
  tokenSecret?: string;
}

export type ServiceCommands = Awaited<ReturnType<typeof open>>["commands"];

async function open({ dataDirectory, databaseUrl, tokenSecret }: ServiceOptions) {
  const { PATH, HOME } = process.env;
  const settings = { DATA_DIR: dataDirectory, DATABASE_URL: databaseUrl, TOKEN_SECRET: tokenSecret };
  const config = readConfig({ PATH, HOME, PORT: "0", EDGE_PORT: "0", ...settings });
  const service = await startService(config, createLogger(config.logLevel));
  const em = () => service.parts.orm.em.fork();
  const commands = {
    publicUrl: () => service.publicUrl,
    urlOf: (slug: string) => service.parts.buildDeps.edge.urlOf(slug),
    /** A new organization, so that no measurement runs into the limit on deploys of another one. */
    found: () =>
      em().transactional((tx) => foundOrganization(tx, { name: "Bench", email: "owner@example.com", plan: "scale" })),
    /** Records of apps that look ready, with nothing behind them. */
    recordApps: (orgId: string, count: number) =>
      em().transactional(async (tx) => {
        const origin = { orgId, createdBy: randomUUID(), name: "demo", repo: "acme/demo", branch: "main" };
        for (let at = 0; at < count; at++) {
          // A second apart, so that the order of the list is the same for all who read it.
          const createdAt = new Date(Date.now() - at * 1000);
          tx.create(App, { ...origin, slug: slugFor("demo"), status: "ready", createdAt });
        }
      }),
    registerApps: async (orgId: string, count: number) => {
      const { scriptPath } = await buildExample(service.parts.buildDeps, "hello");
      return registerApps({ em: em(), dataDirectory }, orgId, count, scriptPath);
    },
    /** What is in use on the heap and beside it once the garbage is gone, in MB. */
    usedMb: () => {
      for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
      const { heapUsed, external } = process.memoryUsage();
      return (heapUsed + external) / 1024 / 1024;
    },
  };
  return { commands, close: () => service.stop() };
}

await serve(open);
