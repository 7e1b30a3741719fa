import { randomUUID } from "node:crypto";
import { loadavg } from "node:os";
import { type Db, queryBuilderOf } from "../domain/database-types.ts";
import { addToIndex } from "../domain/search/index-texts.ts";
import { searchIndex } from "../domain/search/search-index.ts";
import type { ScopeKey } from "../domain/search/search-scope.ts";
import { type Database, openDatabase } from "../server/database/open-database.ts";
import { createLogger } from "../server/telemetry/logger.ts";
import { readCompanyCollection } from "./search-quality/company-collection.ts";
import { SamplePassages } from "./search-speed/sample-passages.ts";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { measureTime } from "./support/measure-alternately.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { percentile } from "./support/statistics.ts";

const PASSAGES = { postgres: 100_000, embedded: 10_000 };
const BATCH = 1000;
/** A document of 50 pages. */
const DOCUMENT = 120;
const DOCUMENTS = 5;
const CLIENTS = 16;
const TARGETS = { one: 25, many: 150, throughput: 150, first: 300, add: 2000, embedded: 20 };

export const searchSpeed: Section = {
  name: "search-speed",
  title: "Speed of search",
  method: `The search module in the process of the benchmark, without HTTP: ${formatInteger(PASSAGES.postgres)} passages of 60 to 140 words in one scope on Postgres, and ${formatInteger(PASSAGES.embedded)} on the embedded PostgreSQL. The words are as frequent as in English text. The queries are the questions of \`bench/search-quality/company\`, whose words are the most frequent ones of the passages. *First search:* on a new connection, with the analyzer already loaded.`,
  async measure(context) {
    await using database = await createScratchDatabase();
    const notes = [`Database: PostgreSQL ${database.version}. Load average before: ${(loadavg()[0] ?? 0).toFixed(1)}.`];
    const outside = await measureDatabase(context, { databaseUrl: database.url, dataDirectory: "" }, PASSAGES.postgres);
    const embedded = await measureDatabase(
      context,
      { databaseUrl: null, dataDirectory: context.folder },
      PASSAGES.embedded,
    );
    return { metrics: [...toMetrics(outside), toEmbeddedMetric(embedded)], notes: [...notes, outside.size] };
  },
};

interface Measured {
  /** Milliseconds. */
  first: number;
  one: number[];
  many: number[];
  perSecond: number;
  add: number[];
  size: string;
}

async function measureDatabase(
  { log }: BenchContext,
  config: Parameters<typeof openDatabase>[0],
  count: number,
): Promise<Measured> {
  const scope: ScopeKey = { orgId: randomUUID(), kind: "knowledge", ownerId: randomUUID() };
  const passages = await SamplePassages.create();
  const queries = (await readCompanyCollection()).questions.map(({ text }) => text);
  await using opened = await openDatabase(config, createLogger("silent"));
  const addMs = await measureTime(async () => {
    for (let at = 0; at < count; at += BATCH) await addPassages(opened, scope, passages, BATCH);
  });
  log(`${formatInteger(count)} passages are indexed after ${formatInteger(addMs)} ms`);
  await opened.orm.em.getConnection().execute("vacuum analyze search_postings, search_scopes");
  await using reopened = config.databaseUrl === null ? null : await openDatabase(config, createLogger("silent"));
  const db = queryBuilderOf((reopened ?? opened).orm.em.fork());
  const first = await measureTime(() => search(db, scope, queries[0] ?? ""));
  const one: number[] = [];
  for (const query of [...queries, ...queries]) one.push(await measureTime(() => search(db, scope, query)));
  log(`one client: p50 ${percentile(one, 0.5).toFixed(1)} ms, p95 ${percentile(one, 0.95).toFixed(1)} ms`);
  const { many, perSecond } = await measureClients(db, scope, queries);
  log(`${CLIENTS} clients: ${formatInteger(perSecond)}/s, p95 ${percentile(many, 0.95).toFixed(1)} ms`);
  const add: number[] = [];
  for (let document = 0; document < DOCUMENTS; document++)
    add.push(await measureTime(() => addPassages(opened, scope, passages, DOCUMENT)));
  log(`a document is added in ${formatInteger(percentile(add, 0.5))} ms`);
  return { first, one, many, perSecond, add, size: await describeSize(opened) };
}

async function search(db: Db, scope: ScopeKey, text: string): Promise<void> {
  await searchIndex(db, scope, { text, language: "english", limit: 50 });
}

async function addPassages({ orm }: Database, scope: ScopeKey, passages: SamplePassages, count: number): Promise<void> {
  const texts = passages.create(count);
  await orm.em.fork().transactional((em) => addToIndex(queryBuilderOf(em), scope, texts));
}

async function measureClients(
  db: Db,
  scope: ScopeKey,
  queries: readonly string[],
): Promise<{ many: number[]; perSecond: number }> {
  const pending = Array.from({ length: 10 }, () => queries).flat();
  const total = pending.length;
  const many: number[] = [];
  const runClient = async (): Promise<void> => {
    for (let query = pending.pop(); query !== undefined; query = pending.pop()) {
      const text = query;
      many.push(await measureTime(() => search(db, scope, text)));
    }
  };
  const ms = await measureTime(() => Promise.all(Array.from({ length: CLIENTS }, runClient)));
  return { many, perSecond: (1000 * total) / ms };
}

async function describeSize({ orm }: Database): Promise<string> {
  const [row] = await orm.em
    .getConnection()
    .execute<Record<string, string>[]>(
      "select pg_size_pretty(pg_relation_size('search_postings')) as data, pg_size_pretty(pg_indexes_size('search_postings')) as keys, count(*) as rows from search_postings",
    );
  return `The postings are ${row?.["rows"]} rows: ${row?.["data"]}, and ${row?.["keys"]} for their primary key.`;
}

function toMetrics({ first, one, many, perSecond, add }: Measured): Metric[] {
  return [
    atMost("One client, p95", percentile(one, 0.95), TARGETS.one, describeTimes(one)),
    {
      name: `Searches per second, ${CLIENTS} clients`,
      result: formatInteger(perSecond),
      target: { bound: `≥ ${TARGETS.throughput}`, met: perSecond >= TARGETS.throughput },
      details: "",
    },
    atMost(`${CLIENTS} clients, p95`, percentile(many, 0.95), TARGETS.many, describeTimes(many)),
    atMost("First search", first, TARGETS.first, ""),
    atMost(
      `Adding ${DOCUMENT} passages`,
      percentile(add, 0.5),
      TARGETS.add,
      `slowest ${Math.max(...add).toFixed(0)} ms`,
    ),
  ];
}

function toEmbeddedMetric({ one }: Measured): Metric {
  return atMost("Embedded PostgreSQL, one client, p95", percentile(one, 0.95), TARGETS.embedded, describeTimes(one));
}

function atMost(name: string, ms: number, bound: number, details: string): Metric {
  return { name, result: `${ms.toFixed(1)} ms`, target: { bound: `≤ ${bound} ms`, met: ms <= bound }, details };
}

function describeTimes(ms: readonly number[]): string {
  return `p50 ${percentile(ms, 0.5).toFixed(1)} ms, slowest ${Math.max(...ms).toFixed(1)} ms of ${ms.length}`;
}
