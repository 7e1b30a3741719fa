import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createBaselineEntries } from "../support/unindexed-session-entries.ts";
import { formatInteger, type Metric } from "../support/bench-section.ts";
import { measureAlternately, measureTime } from "../support/measure-alternately.ts";
import { callRest, type RestClient } from "../support/rest-client.ts";
import { toMetric } from "./to-metric.ts";

const ENTRIES = 1000;
/** Of each entry, in bytes. */
const SIZES = [300, 1500];
const DOCS = fileURLToPath(new URL("../../docs", import.meta.url));

interface AppendOptions {
  rest: RestClient;
  databaseUrl: string;
  rounds: number;
  target: number;
}

/** Appends 1,000 entries to a new session in each round. */
export async function measureAppends({ rest, databaseUrl, rounds, target }: AppendOptions): Promise<Metric[]> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await createBaselineEntries(database);
    const { servers } = await callRest<{ servers: { agent: { agent_id: string } }[] }>(rest, "/v1/servers");
    const agentId = servers[0]?.agent.agent_id ?? "";
    const metrics: Metric[] = [];
    for (const bytes of SIZES) {
      const contents = await createContents(bytes);
      const sides = {
        service: async () => {
          const session = await callRest<{ session_id: string }>(rest, `/v1/agents/${agentId}/sessions`, {
            external_id: randomUUID(),
          });
          const entries = contents.map((content, index) => ({ id: `e${index}`, role: "user", content }));
          const path = `/v1/sessions/${session.session_id}/entries`;
          return measureTime(() => callRest(rest, path, { entries }));
        },
        baseline: () => measureTime(() => insertRows(database, contents)),
      };
      await measureAlternately(2, sides);
      const pairs = await measureAlternately(rounds, sides);
      metrics.push(toMetric(`Append of 1,000 entries of ${formatInteger(bytes)} bytes`, pairs, target));
    }
    return metrics;
  } finally {
    await database.end();
  }
}

/** Parts of the documentation, whose words are as frequent as in other English texts. */
async function createContents(bytes: number): Promise<string[]> {
  const files = (await readdir(DOCS)).filter((file) => file.endsWith(".md")).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(path.join(DOCS, file), "latin1")));
  const text = texts.join("\n").replaceAll(/[^\n\u0020-\u007e]/g, " ");
  let state = 1;
  const next = (): number => (state = (state * 48_271) % 2_147_483_647);
  return Array.from({ length: ENTRIES }, () => {
    const start = next() % (text.length - bytes);
    return text.slice(start, start + bytes);
  });
}

function insertRows(database: pg.Client, contents: readonly string[]): Promise<unknown> {
  return database.query(
    `insert into baseline_entries (session_id, seq, server_id, entry_id, role, content, created_at)
     select $1::uuid, n, $1::uuid, 'e' || n, 'user', content, now()
     from unnest($2::text[]) with ordinality as entry(content, n)`,
    [randomUUID(), contents],
  );
}
