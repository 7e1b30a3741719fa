import { randomUUID } from "node:crypto";
import MiniSearch from "minisearch";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { addToIndex } from "../../domain/search/index-texts.ts";
import { rankByProximity } from "../../domain/search/rank-by-proximity.ts";
import { searchIndex } from "../../domain/search/search-index.ts";
import type { ScopeKey } from "../../domain/search/search-scope.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import type { Collection } from "./collection.ts";

export type Search = (question: string) => Promise<string[]>;

const HITS = 50;

/** Indexes the documents in the database, and searches them as the service does. */
export async function indexWithService(
  databaseUrl: string,
  { documents }: Collection,
): Promise<{ search: Search } & AsyncDisposable> {
  const opened = await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent"));
  const scope: ScopeKey = { orgId: randomUUID(), kind: "knowledge", ownerId: randomUUID() };
  const texts = documents.map(({ title, body }) => ({ title, body, category: 0, language: "english" as const }));
  const ids = await opened.orm.em.fork().transactional((em) => addToIndex(queryBuilderOf(em), scope, texts));
  const documentOf = new Map(ids.map((indexId, index) => [indexId, documents[index]]));
  const db = queryBuilderOf(opened.orm.em.fork());
  return {
    search: async (text) => {
      const hits = await searchIndex(db, scope, { text, language: "english", limit: HITS });
      const found = hits.flatMap(({ indexId, score }) => {
        const document = documentOf.get(indexId);
        return document === undefined ? [] : [{ ...document, score }];
      });
      return rankByProximity({ text, language: "english", limit: found.length }, found).map(({ id }) => id);
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

export function indexWithMiniSearch({ documents }: Collection): Search {
  const index = new MiniSearch({ fields: ["title", "body"] });
  index.addAll(documents);
  return (question) =>
    Promise.resolve(
      index
        .search(question)
        .slice(0, HITS)
        .map(({ id }) => String(id)),
    );
}
