import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Load } from "./processes/generate-load.ts";
import { type BenchContext, formatInteger, type Section } from "./support/bench-section.ts";
import { measureRequestRate } from "./support/load-generator.ts";
import { measureAlternately } from "./support/measure-alternately.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { startHandWrittenList, startService } from "./support/start-servers.ts";
import { compare, type Comparison } from "./support/statistics.ts";

const APPS = 50;
const CONNECTIONS = 16;
const ROUNDS = 11;
const SECONDS = 1;
const TARGET = 0.85;

export const listApps: Section = {
  name: "list",
  title: "Listing apps",
  method: `\`GET /v1/apps\` with ${APPS} apps on Postgres. The baseline is a hand-written Fastify handler with two \`pg\` queries, the same authentication (it looks up the SHA-256 of the token) and exactly the same response. The service caches valid tokens for 5 s; the handler does not. Each server and the load generator are separate processes. ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s for each side.`,
  async measure(context) {
    await using database = await createScratchDatabase();
    const { ratio, service, baseline } = await compareServers(context, database.url);
    return {
      metrics: [
        {
          name: "Requests/s, relative to the hand-written handler",
          result: ratio.toFixed(2),
          target: { bound: `≥ ${TARGET}`, met: ratio >= TARGET },
          details: `${formatInteger(service)} requests/s, hand-written ${formatInteger(baseline)} requests/s`,
        },
      ],
      notes: [`Database: PostgreSQL ${database.version}.`],
    };
  },
};

async function compareServers({ folder, signal, log }: BenchContext, databaseUrl: string): Promise<Comparison> {
  const tokenSecret = randomBytes(32).toString("hex");
  await using service = await startService({ databaseUrl, tokenSecret, dataDirectory: folder }, signal);
  const appUrl = (await service.call("appUrl", "slug")).replace("slug", "SLUG");
  await using handWritten = await startHandWrittenList({ databaseUrl, tokenSecret, appUrl }, signal);
  const { org_id: orgId, api_key: apiKey } = await service.call("createOrganization");
  await service.call("insertAppRows", orgId, APPS);

  const headers = [{ authorization: `Bearer ${apiKey}` }];
  const load = { headers, connections: CONNECTIONS, seconds: SECONDS };
  const serviceLoad = { ...load, url: `${await service.call("publicUrl")}/v1/apps` };
  const baselineLoad = { ...load, url: `${await handWritten.call("publicUrl")}/v1/apps` };
  assert.equal(await fetchText(serviceLoad), await fetchText(baselineLoad), "the responses must be equal");

  const measure = (name: string, sideLoad: Load) => async (): Promise<number> => {
    const rate = await measureRequestRate(sideLoad, signal);
    log(`${name}: ${formatInteger(rate)} requests/s`);
    return rate;
  };
  await measureAlternately(1, {
    service: measure("warm-up, service", serviceLoad),
    baseline: measure("warm-up, hand-written", baselineLoad),
  });
  const pairs = await measureAlternately(ROUNDS, {
    service: measure("service", serviceLoad),
    baseline: measure("hand-written", baselineLoad),
  });
  return compare(pairs);
}

async function fetchText({ url, headers }: Load): Promise<string> {
  return (await fetch(url, { headers: headers[0] ?? {} })).text();
}
