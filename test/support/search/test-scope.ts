import { randomUUID } from "node:crypto";
import { type Db, queryBuilderOf } from "../../../domain/database-types.ts";
import { addToIndex, type IndexedText } from "../../../domain/search/index-texts.ts";
import { postingsIdOf } from "../../../domain/search/index-rebuild.ts";
import { type IndexQuery, searchIndex, searchIndexAndWeigh } from "../../../domain/search/search-index.ts";
import type { ScopeKey } from "../../../domain/search/search-scope.ts";
import type { Harness } from "../service/harness.ts";

/** A text in English without a title. */
export function sampleText(body: string, more: Partial<IndexedText> = {}): IndexedText {
  return { title: "", body, category: 0, language: "english", ...more };
}

const SEARCH = { language: "english", limit: 50 } as const;

/** A scope of its own organization, in the database of a service. */
export class TestScope {
  readonly key: ScopeKey;
  readonly #service: () => Harness;

  constructor(service: () => Harness, key: Partial<ScopeKey> = {}) {
    this.key = { orgId: randomUUID(), kind: "knowledge", ownerId: randomUUID(), ...key };
    this.#service = service;
  }

  transact<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    const { em } = this.#service().service.parts.orm;
    return em.fork().transactional((tx) => work(queryBuilderOf(tx)));
  }

  /** Adds texts in a transaction of their own, and returns their index ids. */
  add(...texts: IndexedText[]): Promise<number[]> {
    return this.transact((tx) => addToIndex(tx, this.key, texts));
  }

  /** Adds texts with vectors of the model `m`. */
  async addWithVectors(...texts: IndexedText[]): Promise<void> {
    const ids = await this.add(...texts);
    const { db } = this.#service().service.parts;
    const { scope } = await this.readRows();
    const scopeId = scope?.id ?? 0;
    await db.updateTable("search_scopes").set({ embedding_model: "m" }).where("id", "=", scopeId).execute();
    const vector = { category: 0, signs: "1", vector: Buffer.alloc(4) };
    const rows = ids.map((id) => ({ scope_id: scopeId, index_id: id, ...vector }));
    await db.insertInto("search_vectors").values(rows).execute();
  }

  /** The index ids of the texts with a vector. */
  async readVectorIds(): Promise<number[]> {
    const { db } = this.#service().service.parts;
    const { scope } = await this.readRows();
    const vectors = db
      .selectFrom("search_vectors")
      .select("index_id")
      .where("scope_id", "=", scope?.id ?? 0);
    return (await vectors.orderBy("index_id").execute()).map(({ index_id: id }) => id);
  }

  /** Returns the index ids of the hits, the best first. */
  async find(text: string, more: Partial<IndexQuery> = {}): Promise<number[]> {
    const { db } = this.#service().service.parts;
    const hits = await searchIndex(db, this.key, { text, ...SEARCH, ...more });
    return hits.map(({ indexId }) => indexId);
  }

  /** Returns the hits with their scores, and the words of the query. */
  search(text: string, more: Partial<IndexQuery> = {}) {
    const { db } = this.#service().service.parts;
    return searchIndexAndWeigh(db, this.key, { text, ...SEARCH, ...more });
  }

  /** Makes the index look as if an older analyzer had built it, which wrote `old` before each term. */
  async makeOld(): Promise<void> {
    const { scope } = await this.readRows();
    const em = this.#service().service.parts.orm.em.fork();
    await em.execute("update search_scopes set analyzer_version = 0 where id = ?", [scope?.id]);
    await em.execute("update search_postings set term = 'old' || term where scope_id = ?", [this.#postingsId(scope)]);
  }

  #postingsId(scope: { id: number; postings_set: number } | undefined): number {
    return scope === undefined ? 0 : postingsIdOf(scope);
  }

  /** The row of the scope, and the postings that searches read, by term. */
  async readRows() {
    const { db } = this.#service().service.parts;
    const scope = await db
      .selectFrom("search_scopes")
      .selectAll()
      .where("owner_id", "=", this.key.ownerId)
      .executeTakeFirst();
    const postings = await db
      .selectFrom("search_postings")
      .selectAll()
      .where("scope_id", "=", this.#postingsId(scope))
      .orderBy("term")
      .orderBy("block")
      .execute();
    return { scope, postings };
  }
}
