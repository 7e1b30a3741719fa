import type { Db } from "../database-types.ts";
import type { JsonSchema } from "../ports/procedure-discovery.ts";
import type { IndexHit } from "../search/best-hits.ts";
import { addToIndex, type IndexedText, removeFromIndex } from "../search/index-texts.ts";
import type { RankingParameters } from "../search/ranking.ts";
import { searchIndex } from "../search/search-index.ts";
import type { ScopeKey } from "../search/search-scope.ts";
import type { ReadTexts } from "../search/update-scopes.ts";

/** What the search finds of a procedure. */
export interface SearchableProcedure {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  /** The display name of its app. */
  app: string;
  slug: string;
}

/** A procedure in the search index. */
export interface IndexedProcedure extends SearchableProcedure {
  id: string;
  deploymentId: string;
  orgId: string;
  indexId: number;
}

/** How much a word counts, compared with one of the description. The slug mostly has the words of the app's name. */
const APP_WEIGHT = 2;
const SLUG_WEIGHT = 1;
const PROPERTY_WEIGHT = 2;
/**
 * Schemas differ much in length, which says little about how well a procedure matches, so the length counts less than in
 * documents. These values were chosen with the procedures of `bench/search-quality`.
 */
const RANKING: RankingParameters = { k1: 5, b: 0.3, titleWeight: 5 };

/** The number of property names of one schema that are indexed, so that a large schema does not outweigh the others. */
const MAX_PROPERTY_NAMES = 200;
const MAX_SCHEMA_DEPTH = 8;

/** The part of the search index with the procedures of the live deployments of an organization. */
export function procedureScope(orgId: string): ScopeKey {
  return { orgId, kind: "procedures", ownerId: orgId };
}

export function toIndexedText({ name, description, inputSchema, app, slug }: SearchableProcedure): IndexedText {
  const properties = [...iteratePropertyNames(inputSchema)].slice(0, MAX_PROPERTY_NAMES).join(" ");
  return {
    title: name,
    body: description,
    category: 0,
    language: "english",
    parts: [
      { text: app, weight: APP_WEIGHT },
      { text: slug, weight: SLUG_WEIGHT },
      { text: properties, weight: PROPERTY_WEIGHT },
      // In a name every word counts: `lights.on` is not `lights.off`.
      { text: name, weight: 1, words: "stop words" },
    ],
  };
}

function* iteratePropertyNames(schema: unknown, depth = 0): Generator<string> {
  if (typeof schema !== "object" || schema === null || depth > MAX_SCHEMA_DEPTH) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties" && typeof value === "object" && value !== null) yield* Object.keys(value);
    yield* iteratePropertyNames(value, depth + 1);
  }
}

/** Searches the procedures of an organization by words, by beginnings of words and despite typing errors. */
export function searchProcedureIndex(
  db: Db,
  orgId: string,
  { query, limit, indexIds }: { query: string; limit: number; indexIds?: ReadonlySet<number> | undefined },
): Promise<IndexHit[]> {
  return searchIndex(db, procedureScope(orgId), {
    text: query,
    language: "english",
    stopWords: true,
    limit,
    typos: true,
    prefix: true,
    ranking: RANKING,
    ...(indexIds && { indexIds }),
  });
}

/** Selects procedures with their apps, as they are indexed. */
function selectSearchable(db: Db) {
  return db
    .selectFrom("app_procedures")
    .innerJoin("apps", (join) =>
      join.onRef("apps.id", "=", "app_procedures.app_id").onRef("apps.org_id", "=", "app_procedures.org_id"),
    )
    .select([
      "app_procedures.id",
      "app_procedures.deployment_id as deploymentId",
      "app_procedures.org_id as orgId",
      "app_procedures.index_id as indexId",
      "app_procedures.name",
      "app_procedures.description",
      "app_procedures.input_schema as inputSchema",
      "apps.name as app",
      "apps.slug",
    ]);
}

/** Reads the procedures of an app, or of one of its deployments, that are in the index. */
export async function readIndexed(
  tx: Db,
  owner: { deploymentId: string } | { appId: string },
): Promise<IndexedProcedure[]> {
  const query = selectSearchable(tx)
    .where("app_procedures.index_id", "is not", null)
    .orderBy("app_procedures.index_id");
  const rows = await (
    "appId" in owner
      ? query.where("app_procedures.app_id", "=", owner.appId)
      : query.where("app_procedures.deployment_id", "=", owner.deploymentId)
  ).execute();
  return rows as IndexedProcedure[];
}

/** Reads all procedures of a deployment. */
export async function readSearchable(tx: Db, deploymentId: string): Promise<(SearchableProcedure & { id: string })[]> {
  return await selectSearchable(tx).where("app_procedures.deployment_id", "=", deploymentId).execute();
}

/** Reads the indexed procedures of an organization. */
export const readProcedureTexts: ReadTexts = async (db, { orgId }, { from, limit }) => {
  const rows = await selectSearchable(db)
    .where("app_procedures.org_id", "=", orgId)
    .where("app_procedures.index_id", ">=", from)
    .orderBy("app_procedures.index_id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...toIndexedText(row), indexId: row.indexId ?? 0 }));
};

/**
 * Replaces procedures of an organization in the index, in the transaction of `tx`. A procedure that is found by the same words
 * as a removed one takes over its place.
 *
 * @returns the index ids of the added procedures, in their order
 */
export async function changeIndex(
  tx: Db,
  orgId: string,
  { removed, added }: { removed: readonly IndexedProcedure[]; added: readonly SearchableProcedure[] },
): Promise<number[]> {
  const scope = procedureScope(orgId);
  const texts = added.map(toIndexedText);
  const keys = texts.map((text) => JSON.stringify(text));
  const wanted = new Set(keys);
  const kept = new Map<string, number>();
  const gone: (IndexedText & { indexId: number })[] = [];
  for (const procedure of removed) {
    const text = toIndexedText(procedure);
    const key = JSON.stringify(text);
    if (wanted.has(key)) kept.set(key, procedure.indexId);
    else gone.push({ ...text, indexId: procedure.indexId });
  }
  await removeFromIndex(tx, scope, gone);
  const newIds = await addToIndex(
    tx,
    scope,
    texts.filter((_, at) => !kept.has(keys[at] ?? "")),
  );
  const next = newIds.values();
  return keys.map((key) => kept.get(key) ?? next.next().value ?? 0);
}
