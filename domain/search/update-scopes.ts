import type { Db } from "../database-types.ts";
import { ANALYZER_VERSION } from "./analyzer.ts";
import type { IndexedText } from "./indexed-text.ts";
import { addToRebuild } from "./index-texts.ts";
import { otherPostingsIdOf, type Rebuild, type ScopeSets } from "./index-rebuild.ts";
import { removeSizes } from "./language-sizes.ts";
import { removeSomePostings } from "./write-postings.ts";
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

/** How many texts, or postings, one transaction changes. Writers of the scope wait for it. */
const TEXTS = 200;
const POSTINGS = 5000;
/** Scopes of one run. */
const SCOPES = 1000;
/** A search that has begun to read postings ends within this time. */
const SEARCH_MS = 60_000;

interface UpdateOptions {
  signal: AbortSignal;
  /** Called for a scope that could not be brought up to date. The next run tries again. */
  report: (error: unknown) => void;
}

/**
 * Brings the scopes up to date that an older analyzer has built. Meanwhile, searches read what it has built. Several processes
 * may do so at the same time, and the next call continues what one has left.
 */
export async function updateScopes(db: Db, readers: TextReaders, { signal, report }: UpdateOptions): Promise<void> {
  for (const scope of await findOutdated(db, readers)) {
    const readTexts = readers[scope.kind];
    if (readTexts === undefined) continue;
    try {
      while (!signal.aborted && (await updateScope(db, scope, readTexts, "skip")));
    } catch (error) {
      report(error);
    }
  }
}

/**
 * Does one step of bringing a scope up to date, in a transaction of its own.
 *
 * @param locked - whether to wait for another writer of the scope
 * @returns whether another step is to do at once
 */
export async function updateScope(
  db: Db,
  scope: ScopeKey,
  readTexts: ReadTexts,
  locked: "wait" | "skip",
): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    const row = await lockRow(tx, scope, locked);
    if (row === undefined) return false;
    if (row.is_retired !== null) return row.is_retired && (await removeRetired(tx, row));
    if (row.analyzer_version >= ANALYZER_VERSION) return false;
    const rebuild = row.rebuild ?? { version: ANALYZER_VERSION, nextIndexId: 0, textCount: 0, totalLength: 0 };
    if (rebuild.version > ANALYZER_VERSION) return false;
    if (rebuild.version < ANALYZER_VERSION) return await startAgain(tx, row);
    const texts = await readTexts(tx, scope, { from: rebuild.nextIndexId, limit: TEXTS });
    const progress = await addToRebuild(tx, otherPostingsIdOf(row), rebuild, texts);
    if (texts.length === TEXTS) return await saveProgress(tx, row, progress);
    return await switchSets(tx, row, progress);
  });
}

async function findOutdated(db: Db, readers: TextReaders): Promise<ScopeKey[]> {
  const kinds = Object.keys(readers) as SearchScopeKind[];
  const scopes = () =>
    db
      .selectFrom("search_scopes")
      .select(["org_id as orgId", "kind", "owner_id as ownerId"])
      .where("kind", "in", kinds)
      .limit(SCOPES);
  const older = scopes().where("analyzer_version", "<", ANALYZER_VERSION).orderBy("analyzer_version").orderBy("id");
  const retired = scopes().where("retired_at", "<", retiredBefore()).orderBy("retired_at");
  return [...(await retired.execute()), ...(await older.execute())];
}

const retiredBefore = (): Date => new Date(Date.now() - SEARCH_MS);

interface ScopeRow extends ScopeSets {
  analyzer_version: number;
  rebuild: Rebuild | null;
  /** Whether no search reads the retired set any more; `null` without a retired set. */
  is_retired: boolean | null;
}

function lockRow(tx: Db, { orgId, kind, ownerId }: ScopeKey, locked: "wait" | "skip"): Promise<ScopeRow | undefined> {
  return tx
    .selectFrom("search_scopes")
    .select(["id", "postings_set", "analyzer_version", "rebuild"])
    .select((eb) => eb("retired_at", "<", retiredBefore()).$castTo<boolean | null>().as("is_retired"))
    .where("org_id", "=", orgId)
    .where("kind", "=", kind)
    .where("owner_id", "=", ownerId)
    .forUpdate()
    .$if(locked === "skip", (query) => query.skipLocked())
    .executeTakeFirst();
}

async function removeRetired(tx: Db, row: ScopeRow): Promise<true> {
  const removed = await removeSomePostings(tx, otherPostingsIdOf(row), POSTINGS);
  if (removed < POSTINGS) {
    await removeSizes(tx, otherPostingsIdOf(row));
    await tx.updateTable("search_scopes").set({ retired_at: null }).where("id", "=", row.id).execute();
  }
  return true;
}

/** No search has read the set, so it is removed at once. */
async function startAgain(tx: Db, { id }: ScopeRow): Promise<true> {
  const retired = { rebuild: null, retired_at: new Date(0) };
  await tx.updateTable("search_scopes").set(retired).where("id", "=", id).execute();
  return true;
}

async function saveProgress(tx: Db, { id }: ScopeRow, progress: Rebuild): Promise<true> {
  await tx.updateTable("search_scopes").set({ rebuild: progress }).where("id", "=", id).execute();
  return true;
}

async function switchSets(tx: Db, row: ScopeRow, { version, textCount, totalLength }: Rebuild): Promise<false> {
  await tx
    .updateTable("search_scopes")
    .set({
      postings_set: 1 - row.postings_set,
      text_count: textCount,
      total_length: String(totalLength),
      analyzer_version: version,
      rebuild: null,
      retired_at: new Date(),
    })
    .where("id", "=", row.id)
    .execute();
  return false;
}
