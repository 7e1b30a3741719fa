import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Load } from "./processes/generate-load.ts";
import { round } from "./support/format-number.ts";
import { requestsPerSecond } from "./support/load-generator.ts";
import { startHandWritten, startService } from "./support/start-servers.ts";
import { interleave } from "./support/measure-alternately.ts";
import { scratchDatabase } from "./support/scratch-database.ts";
import type { Bench, Section } from "./support/bench-section.ts";
import { compare, type Comparison } from "./support/statistics.ts";

const APPS = 50;
const CONNECTIONS = 16;
const ROUNDS = 11;
const SECONDS = 1;
const TARGET = 0.8;

export const list: Section = {
  name: "list",
  title: "Listing apps",
  method: `\`GET /v1/apps\` with ${APPS} apps on Postgres, against a hand-written Fastify handler with two \`pg\` queries: the same authentication (the token's SHA-256, looked up), the same answer to the byte. The service remembers for 5 s that a token is good, which the handler does not. Each server is a process of its own, and so is the load. ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s a side.`,
  async measure(bench) {
    await using database = await scratchDatabase();
    const { ratio, ours, theirs } = await race(bench, database.url);
    const target = { bound: `≥ ${TARGET}`, met: ratio >= TARGET };
    const detail = `${round(ours)} requests/s, hand-written ${round(theirs)} requests/s`;
    const figures = [
      { what: "Requests/s, as a share of the hand-written handler's", measured: ratio.toFixed(2), target, detail },
    ];
    return { figures, notes: [`The database: PostgreSQL ${database.version}.`] };
  },
};

async function race({ folder, signal, say }: Bench, databaseUrl: string): Promise<Comparison> {
  const tokenSecret = randomBytes(32).toString("hex");
  await using service = await startService({ databaseUrl, tokenSecret, dataDirectory: folder }, signal);
  await using handWritten = await startHandWritten({ databaseUrl, tokenSecret }, signal);
  const { org_id: orgId, api_key: apiKey } = await service.ask("found");
  await service.ask("recordApps", orgId, APPS);

  const headers = [{ authorization: `Bearer ${apiKey}` }];
  const load = { headers, connections: CONNECTIONS, seconds: SECONDS };
  const ours = { ...load, url: `${await service.ask("publicUrl")}/v1/apps` };
  const theirs = { ...load, url: `${await handWritten.ask("publicUrl")}/v1/apps` };
  assert.equal(await answerOf(ours), await answerOf(theirs), "both must answer the same");

  const measure = async (name: string, side: Load): Promise<number> => {
    const rate = await requestsPerSecond(side, signal);
    say(`${name}: ${round(rate)} requests/s`);
    return rate;
  };
  await interleave(1, {
    ours: () => measure("warm-up, ours", ours),
    theirs: () => measure("warm-up, by hand", theirs),
  });
  return compare(
    await interleave(ROUNDS, { ours: () => measure("ours", ours), theirs: () => measure("by hand", theirs) }),
  );
}

async function answerOf({ url, headers }: Load): Promise<string> {
  return (await fetch(url, { headers: headers[0] ?? {} })).text();
}
