import type { Db } from "../database-types.ts";
import type { IndexedText } from "./indexed-text.ts";
import type { ScopeKey, SearchScopeKind } from "./search-scope.ts";

/**
 * Reads the next texts of a scope from where they are stored, as they are indexed: those with an index id of at least `from`,
 * in the order of their ids, at most `limit`.
 */
export type ReadTexts = (
  db: Db,
  scope: ScopeKey,
  range: { from: number; limit: number },
) => Promise<(IndexedText & { indexId: number })[]>;

export type TextReaders = Partial<Record<SearchScopeKind, ReadTexts>>;
