import assert from "node:assert/strict";
import type { VerifierCommands } from "./processes/token-verifier.ts";
import { round } from "./support/format-number.ts";
import { scratchDatabase } from "./support/scratch-database.ts";
import type { Bench, Figure, Section } from "./support/bench-section.ts";
import { type Partner, startProcess } from "./support/start-process.ts";
import { median } from "./support/statistics.ts";

type Verifier = Partner<VerifierCommands>;

const ROWS = 20_000;
const ROUNDS = 11;
const REMEMBERED = 20_000;
const ASKED = 1000;
const KEY_US = 60;
const JWT_US = 150;

export const verification: Section = {
  name: "verification",
  title: "Verifying tokens",
  method: `What \`/v1\` does with an \`Authorization\` header, on Postgres with ${round(ROWS)} other tokens and members, in a process that does nothing else: its CPU time on all threads, divided by the number of verifications. ${ROUNDS} rounds after a warm-up, of ${round(REMEMBERED)} verifications each, or ${round(ASKED)} where everything is forgotten before each one. A JWT is verified each time; what its person is now is remembered as a key is.`,
  async measure(bench) {
    await using database = await scratchDatabase();
    const program = new URL("processes/token-verifier.ts", import.meta.url);
    await using verifier: Verifier = await startProcess(program, { databaseUrl: database.url }, bench.signal);
    await verifier.ask("fill", ROWS);
    const lookup = await lookupOf(verifier);
    const key = await sampled(bench, verifier, "key", true);
    const asked = await sampled(bench, verifier, "key", false);
    const jwt = await sampled(bench, verifier, "jwt", true);
    const figures: Figure[] = [
      figure("An API key that was seen in the last 5 s", key, KEY_US),
      figure("An API key that was not", asked, null),
      {
        what: "Statements for it",
        measured: String(lookup.count),
        target: { bound: "1, by an index", met: lookup.good },
        detail: lookup.index,
      },
      figure("An access token of the service's own (RS256)", jwt, JWT_US),
    ];
    return { figures, notes: [`The database: PostgreSQL ${database.version}.`] };
  },
};

interface Sample {
  cpuUs: number;
  elapsedUs: number;
}

async function sampled({ say }: Bench, verifier: Verifier, token: "key" | "jwt", remember: boolean): Promise<Sample> {
  const count = remember ? REMEMBERED : ASKED;
  const samples: Sample[] = [];
  for (let at = -1; at < ROUNDS; at++) {
    const sample = await verifier.ask("measure", token, count, remember);
    say(`${at < 0 ? "warm-up" : token}${remember ? "" : ", forgotten"}: ${sample.cpuUs.toFixed(1)} µs of CPU`);
    if (at >= 0) samples.push(sample);
  }
  return {
    cpuUs: median(samples.map(({ cpuUs }) => cpuUs)),
    elapsedUs: median(samples.map(({ elapsedUs }) => elapsedUs)),
  };
}

function figure(what: string, { cpuUs, elapsedUs }: Sample, targetUs: number | null): Figure {
  const target = targetUs === null ? null : { bound: `≤ ${targetUs} µs`, met: cpuUs <= targetUs };
  return { what, measured: `${cpuUs.toFixed(1)} µs of CPU`, target, detail: `${elapsedUs.toFixed(1)} µs passed` };
}

/** How an API key is looked up when it is not remembered. */
async function lookupOf(verifier: Verifier): Promise<{ count: number; good: boolean; index: string }> {
  // The first use is written down, which later ones of the same minute are not.
  await verifier.ask("statements", "key");
  const { texts, plan } = await verifier.ask("statements", "key");
  assert.match(texts[0] ?? "", /^select/);
  const scans = plan
    .map((line) => /(\w+ )?(Index|Seq|Bitmap)( Only)?( Heap)? Scan.*/.exec(line)?.[0])
    .filter((line) => line !== undefined);
  const index = /Index Scan using (\S+) on machine_tokens/.exec(plan.join("\n"))?.[1];
  const good = texts.length === 1 && index !== undefined && !scans.some((scan) => scan.includes("Seq Scan"));
  return { count: texts.length, good, index: index === undefined ? scans.join("; ") : `\`${index}\`` };
}
