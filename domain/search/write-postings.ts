import type { Db } from "../database-types.ts";
import type { AnalyzedText } from "./indexed-text.ts";
import { blockOf, encodePosting, offsetOf, POSTING_BYTES, readOffset } from "./postings.ts";
import { textArray } from "./text-array.ts";

export interface NumberedText extends AnalyzedText {
  indexId: number;
}

/** The postings of one term in one block. */
interface BlockPostings {
  term: string;
  block: number;
  data: Uint8Array;
}

/** Appends the postings of new texts. The scope must be locked. */
export async function appendPostings(tx: Db, scopeId: number, texts: readonly NumberedText[]): Promise<void> {
  const added = encodeTexts(texts);
  if (added.length === 0) return;
  await tx
    .insertInto("search_postings")
    .columns(["scope_id", "term", "block", "count", "data"])
    .expression(
      selectPostings(tx, added).select(({ cast, val }) => [
        cast<number>(val(scopeId), "integer").as("scope_id"),
        "row.term",
        "row.block",
        "row.count",
        "row.data",
      ]),
    )
    .onConflict((conflict) =>
      conflict.columns(["scope_id", "term", "block"]).doUpdateSet(({ eb, ref }) => ({
        count: eb(ref("search_postings.count"), "+", ref("excluded.count")),
        data: eb(ref("search_postings.data"), "||", ref("excluded.data")),
      })),
    )
    .execute();
}

/**
 * Removes the postings of texts. The scope must be locked.
 *
 * @returns the index ids of the texts that had postings
 */
export async function removePostings(
  tx: Db,
  scopeId: number,
  texts: readonly NumberedText[],
): Promise<ReadonlySet<number>> {
  const removed = new Set<number>();
  for (const [block, textsOfBlock] of Map.groupBy(texts, ({ indexId }) => blockOf(indexId))) {
    const ids = new Map(textsOfBlock.map(({ indexId }) => [offsetOf(indexId), indexId]));
    const terms = [...new Set(textsOfBlock.flatMap(({ counts }) => [...counts.keys()]))];
    const changed: BlockPostings[] = [];
    for (const { term, data } of await selectBlock(tx, scopeId, block, terms)) {
      const kept = filterPostings(data, (offset) => {
        const id = ids.get(offset);
        if (id !== undefined) removed.add(id);
        return id === undefined;
      });
      if (kept.length < data.length) changed.push({ term, block, data: kept });
    }
    await writeBlock(tx, scopeId, block, changed);
  }
  return removed;
}

/**
 * Removes postings of a set that no search reads any more.
 *
 * @returns how many rows were removed: less than `limit` when none is left
 */
export async function removeSomePostings(tx: Db, scopeId: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom("search_postings")
    .where("scope_id", "=", scopeId)
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple("term", "block"),
        "in",
        selectFrom("search_postings as old")
          .select(["old.term", "old.block"])
          .where("old.scope_id", "=", scopeId)
          .limit(limit)
          .$asTuple("term", "block"),
      ),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

function encodeTexts(texts: readonly NumberedText[]): BlockPostings[] {
  const groups = new Map<string, { term: string; block: number; texts: NumberedText[] }>();
  for (const text of texts) {
    const block = blockOf(text.indexId);
    for (const term of text.counts.keys()) {
      const key = `${block} ${term}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { term, block, texts: [text] });
      else group.texts.push(text);
    }
  }
  return [...groups.values()].map(({ term, block, texts: matching }) => ({
    term,
    block,
    data: encodeTerm(term, matching),
  }));
}

function encodeTerm(term: string, texts: readonly NumberedText[]): Uint8Array {
  const data = new Uint8Array(texts.length * POSTING_BYTES);
  for (const [index, { indexId, category, length, counts }] of texts.entries()) {
    const { title, body } = counts.get(term) ?? NO_COUNTS;
    encodePosting(data, index * POSTING_BYTES, {
      offset: offsetOf(indexId),
      category,
      titleCount: title,
      bodyCount: body,
      length,
    });
  }
  return data;
}

const NO_COUNTS = { title: 0, body: 0 };

/** The postings as rows. Their data is one parameter, which PostgreSQL gets as bytes and not as text. */
function selectPostings(tx: Db, postings: readonly BlockPostings[]) {
  const counts = postings.map(({ data }) => data.length / POSTING_BYTES);
  let end = 1;
  const starts = postings.map(({ data }) => (end += data.length) - data.length);
  const columns = tx.selectNoFrom((eb) => {
    const unnest = (values: readonly (string | number)[]) => eb.fn<string>("unnest", [textArray(eb, values)]);
    return [
      unnest(postings.map(({ term }) => term)).as("term"),
      eb.cast<number>(unnest(postings.map(({ block }) => block)), "integer").as("block"),
      eb.cast<number>(unnest(counts), "integer").as("count"),
      eb.cast<number>(unnest(starts), "integer").as("start"),
    ];
  });
  const all = Buffer.concat(postings.map(({ data }) => data));
  return tx.selectFrom(
    tx
      .selectFrom(columns.as("part"))
      .select(["term", "block", "count"])
      .select(({ fn, eb, ref, val, cast, lit }) =>
        fn<Buffer>("substring", [cast(val(all), "bytea"), ref("start"), eb(ref("count"), "*", lit(POSTING_BYTES))]).as(
          "data",
        ),
      )
      .as("row"),
  );
}

async function selectBlock(
  tx: Db,
  scopeId: number,
  block: number,
  terms: readonly string[],
): Promise<{ term: string; data: Uint8Array }[]> {
  return await tx
    .selectFrom("search_postings")
    .select(["term", "data"])
    .where("scope_id", "=", scopeId)
    .where((eb) => eb("term", "=", eb.fn.any(textArray(eb, terms))))
    .where("block", "=", block)
    .execute();
}

function filterPostings(data: Uint8Array, isKept: (offset: number) => boolean): Uint8Array {
  const kept = new Uint8Array(data.length);
  let end = 0;
  for (let at = 0; at < data.length; at += POSTING_BYTES) {
    if (!isKept(readOffset(data[at] ?? 0, data[at + 1] ?? 0))) continue;
    kept.set(data.subarray(at, at + POSTING_BYTES), end);
    end += POSTING_BYTES;
  }
  return kept.subarray(0, end);
}

async function writeBlock(tx: Db, scopeId: number, block: number, changed: readonly BlockPostings[]): Promise<void> {
  const empty = changed.filter(({ data }) => data.length === 0).map(({ term }) => term);
  if (empty.length > 0)
    await tx
      .deleteFrom("search_postings")
      .where("scope_id", "=", scopeId)
      .where((eb) => eb("term", "=", eb.fn.any(textArray(eb, empty))))
      .where("block", "=", block)
      .execute();
  const shorter = changed.filter(({ data }) => data.length > 0);
  if (shorter.length === 0) return;
  await tx
    .updateTable("search_postings")
    .from(selectPostings(tx, shorter).selectAll().as("changed"))
    .set(({ ref }) => ({ count: ref("changed.count"), data: ref("changed.data") }))
    .where("search_postings.scope_id", "=", scopeId)
    .whereRef("search_postings.term", "=", "changed.term")
    .where("search_postings.block", "=", block)
    .execute();
}
