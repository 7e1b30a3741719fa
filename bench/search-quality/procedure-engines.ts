import { randomUUID } from "node:crypto";
import MiniSearch from "minisearch";
import { queryBuilderOf } from "../../domain/database-types.ts";
import {
  procedureScope,
  type SearchableProcedure,
  searchProcedureIndex,
  toIndexedText,
} from "../../domain/procedures/indexed-procedures.ts";
import { addToIndex } from "../../domain/search/index-texts.ts";
import { rankByProximity } from "../../domain/search/rank-by-proximity.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import type { Search } from "./engines.ts";

const HITS = 50;

/** Indexes procedures in the database, and searches them as `service_docs_search` does. */
export async function indexProceduresWithService(
  databaseUrl: string,
  procedures: readonly SearchableProcedure[],
): Promise<{ search: Search } & AsyncDisposable> {
  const opened = await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent"));
  const orgId = randomUUID();
  const texts = procedures.map(toIndexedText);
  await opened.orm.em.fork().transactional((em) => addToIndex(queryBuilderOf(em), procedureScope(orgId), texts));
  const db = queryBuilderOf(opened.orm.em.fork());
  return {
    search: async (query) => {
      const hits = await searchProcedureIndex(db, orgId, { query, limit: HITS });
      const found = hits.flatMap(({ indexId, score }) => {
        const procedure = procedures[indexId];
        return procedure === undefined ? [] : [{ title: procedure.name, body: procedure.description, score }];
      });
      return rankByProximity({ text: query, language: "english", limit: found.length }, found).map(
        ({ title }) => title,
      );
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** MiniSearch with weights for the fields, with beginnings of words and typing errors. */
export function indexProceduresWithMiniSearch(procedures: readonly SearchableProcedure[]): Search {
  const index = new MiniSearch({
    idField: "name",
    fields: ["name", "description", "properties", "app"],
    tokenize: splitWords,
    searchOptions: {
      tokenize: splitWords,
      boost: { name: 3, app: 2, properties: 1.5, description: 1 },
      fuzzy: (word) => word.length > 3 && 0.2,
      maxFuzzy: 2,
    },
  });
  index.addAll(
    procedures.map((procedure) => ({
      name: procedure.name,
      description: procedure.description,
      properties: toIndexedText(procedure).parts?.[2]?.text ?? "",
      app: `${procedure.app} ${procedure.slug}`,
    })),
  );
  return (question) => {
    const words = [...new Set(splitWords(question))];
    const prefix = (word: string): boolean => words.length === 1 || !/^[a-z0-9]{1,2}$/.test(word);
    const hits = index.search(words.join(" "), { prefix }).slice(0, HITS);
    return Promise.resolve(hits.map(({ id }) => String(id)));
  };
}

function splitWords(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
