/** The complete service, as `npm start` runs it, with commands to prepare and inspect it. */
import { type CreatedOrganization, createOrganization } from "../../domain/organizations/create-organization.ts";
import { startService } from "../../server/composition/start-service.ts";
import { readConfig } from "../../server/config.ts";
import type { Em } from "../../server/database/orm.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { insertAppProcedures, type SampleApps } from "../sample-data/insert-app-procedures.ts";
import { insertAppRows } from "../sample-data/insert-app-rows.ts";
import { insertLiveApps } from "../sample-data/insert-live-apps.ts";
import { insertSessions, type SampleSessions } from "../sample-data/insert-sessions.ts";
import { buildExample } from "../support/build-example.ts";
import { ownCpuMs } from "../support/processor-time.ts";
import { serveCommands } from "../support/serve-commands.ts";

export interface ServiceOptions {
  dataDirectory: string;
  /** Without it, the service starts its embedded database. */
  databaseUrl?: string;
  tokenSecret?: string;
  gitBaseUrl?: string;
  /** Further settings, by the names of their environment variables. */
  settings?: Record<string, string>;
}

/** An outside database requires a secret. */
const DEFAULT_SECRET = "measured".repeat(4);

export type ServiceCommands = Awaited<ReturnType<typeof open>>["commands"];

async function open({ dataDirectory, databaseUrl, tokenSecret, gitBaseUrl, settings: more }: ServiceOptions) {
  const { PATH, HOME } = process.env;
  const secret = tokenSecret ?? (databaseUrl === undefined ? undefined : DEFAULT_SECRET);
  const settings = { DATABASE_URL: databaseUrl, TOKEN_SECRET: secret, GIT_BASE_URL: gitBaseUrl, ...more };
  const config = readConfig({ PATH, HOME, PORT: "0", EDGE_PORT: "0", DATA_DIR: dataDirectory, ...settings });
  const service = await startService(config, createLogger(config.logLevel));
  const forkEm = () => service.parts.orm.em.fork();
  const commands = {
    publicUrl: () => service.publicUrl,
    appUrl: (slug: string) => service.parts.deploymentDeps.edge.urlOf(slug),
    /** Creates an organization without apps. A new one has not used up any rate limit. */
    createOrganization: () => createBenchOrganization(forkEm()),
    /** Creates organizations with `apps` apps each. */
    createOrganizations: async (count: number, apps: number) => {
      const organizations = [];
      while (organizations.length < count) {
        const organization = await createBenchOrganization(forkEm());
        await insertAppRows(forkEm(), organization.org_id, apps);
        organizations.push(organization);
      }
      return organizations;
    },
    insertAppRows: (orgId: string, count: number) => insertAppRows(forkEm(), orgId, count),
    insertAppProcedures: (orgId: string, apps: SampleApps) => insertAppProcedures(forkEm(), orgId, apps),
    /** Does at once what the database does within minutes after many changes. */
    analyzeDatabase: async (): Promise<void> => {
      await forkEm().getConnection().execute("vacuum analyze");
    },
    insertSessions: (orgId: string, sample: SampleSessions) => insertSessions(forkEm(), orgId, sample),
    insertLiveApps: async (orgId: string, count: number) => {
      const { code } = await buildExample(service.parts.deploymentDeps, "hello");
      return insertLiveApps({ em: forkEm(), dataDirectory }, orgId, count, code);
    },
    /** What the kernel limits for builds, apps and programs. */
    sandboxLimits: () => service.parts.readinessDetails.sandbox_limits,
    /** The CPU time, in milliseconds, that this process has used since its start. */
    cpuMs: () => ownCpuMs(),
    /** Collects garbage, and returns the size of the heap and the external memory in MB. */
    collectGarbage: () => {
      for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
      const { heapUsed, external } = process.memoryUsage();
      return (heapUsed + external) / 1024 / 1024;
    },
  };
  return { commands, close: () => service.stop() };
}

function createBenchOrganization(em: Em): Promise<CreatedOrganization> {
  return em.transactional((tx) => createOrganization(tx, { name: "Bench", email: "owner@example.com", plan: "scale" }));
}

await serveCommands(open);
