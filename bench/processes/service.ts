/** The whole service, as `npm start` runs it, and what a benchmark has to do inside of it. */
import { type CreatedOrganization, createOrganization } from "../../domain/organizations/create-organization.ts";
import { readConfig } from "../../server/config.ts";
import type { Em } from "../../server/database/orm.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { startService } from "../../server/composition/start-service.ts";
import { serve } from "../support/serve-commands.ts";
import { buildExample } from "../support/build-example.ts";
import { recordApps } from "../sample-data/insert-app-rows.ts";
import { type AppsToRecord, recordProcedures } from "../sample-data/insert-app-procedures.ts";
import { registerApps } from "../sample-data/insert-live-apps.ts";

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
    urlOf: (slug: string) => service.parts.deploymentDeps.edge.urlOf(slug),
    /** A new organization, so that no measurement runs into the limits of another one. */
    found: () => found(em()),
    /** Many of them, each with as many apps. */
    foundMany: async (count: number, apps: number) => {
      const bootstrapped = [];
      while (bootstrapped.length < count) {
        const organization = await found(em());
        await recordApps(em(), organization.org_id, apps);
        bootstrapped.push(organization);
      }
      return bootstrapped;
    },
    recordApps: (orgId: string, count: number) => recordApps(em(), orgId, count),
    recordProcedures: (orgId: string, apps: AppsToRecord) => recordProcedures(em(), orgId, apps),
    registerApps: async (orgId: string, count: number) => {
      const { scriptPath } = await buildExample(service.parts.deploymentDeps, "hello");
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

function found(em: Em): Promise<CreatedOrganization> {
  return em.transactional((tx) => createOrganization(tx, { name: "Bench", email: "owner@example.com", plan: "scale" }));
}

await serve(open);
