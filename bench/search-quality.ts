import type { Collection } from "./search-quality/collection.ts";
import { readCompanyCollection } from "./search-quality/company-collection.ts";
import { measureQuality, type Quality } from "./search-quality/measure-quality.ts";
import { indexWithMiniSearch, indexWithService, type Search } from "./search-quality/engines.ts";
import { readProcedureCollection } from "./search-quality/procedure-collection.ts";
import { indexProceduresWithMiniSearch, indexProceduresWithService } from "./search-quality/procedure-engines.ts";
import { readTrecCollection } from "./search-quality/trec-collection.ts";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";

/** The folders of further collections in the TREC text format, separated by colons. */
const FOLDERS = process.env["BENCH_COLLECTIONS"] ?? "";
const TARGET = { company: 1.05, other: 1 };

export const searchQuality: Section = {
  name: "search-quality",
  title: "Quality of search",
  method:
    "The documents of an imaginary company (`bench/search-quality/company`), and what its employees ask. Other collections are read from the folders in `BENCH_COLLECTIONS`, in the TREC text format. Each document is one text with a title. The baseline is MiniSearch with its defaults on the same texts. `procedures` are the operations of the service, as if apps offered them, and what agents ask for (`bench/search-quality/procedures`); its baseline is MiniSearch with weights for the fields, beginnings of words and typing errors, which searched procedures before. nDCG@10 is 1 when the best documents are first; recall is the share of the relevant documents among the first hits; MRR is the mean reciprocal rank of the first relevant one.",
  async measure(context) {
    await using database = await createScratchDatabase();
    const collections = [await readCompanyCollection()];
    for (const folder of FOLDERS.split(":").filter((name) => name !== ""))
      collections.push(await readTrecCollection(folder));
    const metrics: Metric[] = [];
    for (const collection of collections)
      metrics.push(...(await compareEngines(context, database.url, collection, metrics.length === 0)));
    metrics.push(...(await compareForProcedures(context, database.url)));
    return { metrics, notes: collections.map(describe) };
  },
};

async function compareEngines(
  context: BenchContext,
  databaseUrl: string,
  collection: Collection,
  isOwn: boolean,
): Promise<Metric[]> {
  await using service = await indexWithService(databaseUrl, collection);
  const engines = { service: service.search, baseline: indexWithMiniSearch(collection) };
  return await compare(context, collection, engines, isOwn ? TARGET.company : TARGET.other);
}

async function compareForProcedures(context: BenchContext, databaseUrl: string): Promise<Metric[]> {
  const collection = await readProcedureCollection();
  await using service = await indexProceduresWithService(databaseUrl, collection.procedures);
  const engines = { service: service.search, baseline: indexProceduresWithMiniSearch(collection.procedures) };
  return await compare(context, collection, engines, TARGET.other);
}

async function compare(
  { log }: BenchContext,
  collection: Pick<Collection, "name" | "questions" | "judgments">,
  engines: { service: Search; baseline: Search },
  bound: number,
): Promise<Metric[]> {
  const ours = await measureQuality(collection, engines.service);
  const baseline = await measureQuality(collection, engines.baseline);
  log(`${collection.name}: ${format(ours)}; MiniSearch ${format(baseline)}`);
  const ratio = ours.ndcg10 / baseline.ndcg10;
  return [
    {
      name: `nDCG@10 of \`${collection.name}\`, relative to MiniSearch`,
      result: ratio.toFixed(2),
      target: { bound: `≥ ${bound}`, met: ratio >= bound },
      details: `${format(ours)}; MiniSearch ${format(baseline)}`,
    },
  ];
}

function format({ ndcg10, recall5, recall10, mrr }: Quality): string {
  return `nDCG@10 ${ndcg10.toFixed(3)}, recall@5 ${recall5.toFixed(3)}, recall@10 ${recall10.toFixed(3)}, MRR ${mrr.toFixed(3)}`;
}

function describe({ name, documents, questions }: Collection): string {
  return `\`${name}\`: ${formatInteger(documents.length)} documents, ${formatInteger(questions.length)} questions.`;
}
