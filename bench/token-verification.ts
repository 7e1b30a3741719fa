import assert from "node:assert/strict";
import type { TokenVerifierCommands } from "./processes/token-verifier.ts";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { type CommandProcess, startProcess } from "./support/start-process.ts";
import { median } from "./support/statistics.ts";

type TokenVerifier = CommandProcess<TokenVerifierCommands>;

const ROWS = 20_000;
const ROUNDS = 11;
const CACHED_COUNT = 20_000;
const UNCACHED_COUNT = 1000;
const API_KEY_TARGET_US = 60;
const JWT_TARGET_US = 150;

export const tokenVerification: Section = {
  name: "verification",
  title: "Verifying tokens",
  method: `The verification of the \`Authorization\` header of \`/v1\`, on Postgres with ${formatInteger(ROWS)} other tokens and members, in a process without other work. The result is the CPU time of all threads per verification. ${ROUNDS} rounds after one warm-up round, with ${formatInteger(CACHED_COUNT)} verifications each, or ${formatInteger(UNCACHED_COUNT)} where the caches are cleared before each verification. The signature of a JWT is verified every time; the current role of its user is cached like an API key.`,
  async measure(context) {
    await using database = await createScratchDatabase();
    const program = new URL("processes/token-verifier.ts", import.meta.url);
    await using verifier: TokenVerifier = await startProcess(program, { databaseUrl: database.url }, context.signal);
    await verifier.call("insertOtherRows", ROWS);
    const lookup = await describeLookup(verifier);
    const cachedKey = await measureToken(context, verifier, "apiKey", true);
    const uncachedKey = await measureToken(context, verifier, "apiKey", false);
    const jwt = await measureToken(context, verifier, "jwt", true);
    const metrics: Metric[] = [
      toMetric("An API key that was used in the last 5 s", cachedKey, API_KEY_TARGET_US),
      toMetric("Any other API key", uncachedKey, null),
      {
        name: "SQL statements for any other API key",
        result: String(lookup.statements),
        target: { bound: "1, with an index", met: lookup.isIndexed },
        details: lookup.scan,
      },
      toMetric("An access token of the built-in identity provider (RS256)", jwt, JWT_TARGET_US),
    ];
    return { metrics, notes: [`Database: PostgreSQL ${database.version}.`] };
  },
};

interface Sample {
  cpuUs: number;
  elapsedUs: number;
}

async function measureToken(
  { log }: BenchContext,
  verifier: TokenVerifier,
  token: "apiKey" | "jwt",
  cached: boolean,
): Promise<Sample> {
  const count = cached ? CACHED_COUNT : UNCACHED_COUNT;
  const samples: Sample[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const sample = await verifier.call("measure", token, count, cached);
    const name = round === 0 ? "warm-up" : token;
    log(`${name}${cached ? "" : ", not cached"}: ${sample.cpuUs.toFixed(1)} µs of CPU time`);
    if (round > 0) samples.push(sample);
  }
  return {
    cpuUs: median(samples.map(({ cpuUs }) => cpuUs)),
    elapsedUs: median(samples.map(({ elapsedUs }) => elapsedUs)),
  };
}

function toMetric(name: string, { cpuUs, elapsedUs }: Sample, targetUs: number | null): Metric {
  return {
    name,
    result: `${cpuUs.toFixed(1)} µs of CPU time`,
    target: targetUs === null ? null : { bound: `≤ ${targetUs} µs`, met: cpuUs <= targetUs },
    details: `elapsed time ${elapsedUs.toFixed(1)} µs`,
  };
}

interface Lookup {
  statements: number;
  isIndexed: boolean;
  /** The index, or the scans of the query plan when it has none. */
  scan: string;
}

/** Describes how an API key that is not cached is looked up in the database. */
async function describeLookup(verifier: TokenVerifier): Promise<Lookup> {
  // The first use of a token in a minute is recorded, which takes a further statement.
  await verifier.call("explainVerification", "apiKey");
  const { statements, plan } = await verifier.call("explainVerification", "apiKey");
  assert.match(statements[0] ?? "", /^select/);
  const scans = plan
    .map((line) => /(\w+ )?(Index|Seq|Bitmap)( Only)?( Heap)? Scan.*/.exec(line)?.[0])
    .filter((line) => line !== undefined);
  const index = /Index Scan using (\S+) on machine_tokens/.exec(plan.join("\n"))?.[1];
  const isIndexed = statements.length === 1 && index !== undefined && !scans.some((scan) => scan.includes("Seq Scan"));
  return { statements: statements.length, isIndexed, scan: index === undefined ? scans.join("; ") : `\`${index}\`` };
}
