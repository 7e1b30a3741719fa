import type { Db } from "../database-types.ts";
import type { EncodedTerms, EncodedTexts, TextRemoval } from "./encode-texts.ts";
import { blockOf, offsetOf, POSTING_BYTES, readOffset, writeOffset } from "./postings.ts";
import { spacedArray, textArray } from "./text-array.ts";

/**
 * Appends the postings of new texts. The scope must be locked.
 *
 * @param indexIds - of the texts, ascending
 */
export async function appendPostings(
  tx: Db,
  scopeId: number,
  indexIds: readonly number[],
  { chunks }: Pick<EncodedTexts, "chunks">,
): Promise<void> {
  const blocks = [...new Set(indexIds.map(blockOf))];
  for (const chunk of chunks)
    for (const block of blocks) {
      const rows = selectRowsOfBlock(chunk, block, indexIds);
      if (rows.data.length > 0) await insertRows(tx, scopeId, rows);
    }
}

/** The postings of some terms in one block. */
interface BlockRows {
  block: number;
  /** Separated by spaces. */
  terms: string;
  /** How many postings each term has, which may be none. */
  counts: readonly number[];
  /** The postings of all terms, in the order of the terms. */
  data: Uint8Array;
}

/** Returns the part of a chunk that is in a block, with the offsets of its texts. */
function selectRowsOfBlock(
  { terms, ends, texts, data }: EncodedTerms,
  block: number,
  indexIds: readonly number[],
): BlockRows {
  const counts = Array.from({ length: ends.length }, () => 0);
  const selected = new Uint8Array(data.length);
  let length = 0;
  let at = 0;
  for (const [term, end] of ends.entries())
    for (; at < end; at++) {
      const indexId = indexIds[texts[at] ?? 0] ?? 0;
      if (blockOf(indexId) !== block) continue;
      selected.set(data.subarray(at * POSTING_BYTES, (at + 1) * POSTING_BYTES), length);
      writeOffset(selected, length, offsetOf(indexId));
      length += POSTING_BYTES;
      counts[term] = (counts[term] ?? 0) + 1;
    }
  return { block, terms, counts, data: selected.subarray(0, length) };
}

async function insertRows(tx: Db, scopeId: number, rows: BlockRows): Promise<void> {
  await tx
    .insertInto("search_postings")
    .columns(["scope_id", "term", "block", "count", "data"])
    .expression(
      selectPostings(tx, rows)
        .where("row.count", ">", 0)
        .select(({ cast, val }) => [
          cast<number>(val(scopeId), "integer").as("scope_id"),
          "row.term",
          cast<number>(val(rows.block), "integer").as("block"),
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
  { blocks }: Pick<TextRemoval, "blocks">,
): Promise<ReadonlySet<number>> {
  const removed = new Set<number>();
  for (const { block, indexIds, terms } of blocks) {
    const ids = new Map(indexIds.map((indexId) => [offsetOf(indexId), indexId]));
    for (const chunk of terms) {
      const changed: { term: string; data: Uint8Array }[] = [];
      for (const { term, data } of await selectBlock(tx, scopeId, block, chunk)) {
        const kept = filterPostings(data, (offset) => {
          const id = ids.get(offset);
          if (id !== undefined) removed.add(id);
          return id === undefined;
        });
        if (kept.length < data.length) changed.push({ term, data: kept });
      }
      await writeBlock(tx, scopeId, block, changed);
    }
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

/** The postings as rows. Their data is one parameter, which PostgreSQL gets as bytes and not as text. */
function selectPostings(tx: Db, { terms, counts, data }: Omit<BlockRows, "block">) {
  let end = 1;
  const starts = counts.map((count) => (end += count * POSTING_BYTES) - count * POSTING_BYTES);
  const columns = tx.selectNoFrom((eb) => [
    eb.fn<string>("unnest", [spacedArray(eb, terms)]).as("term"),
    eb.cast<number>(eb.fn<string>("unnest", [textArray(eb, counts)]), "integer").as("count"),
    eb.cast<number>(eb.fn<string>("unnest", [textArray(eb, starts)]), "integer").as("start"),
  ]);
  return tx.selectFrom(
    tx
      .selectFrom(columns.as("part"))
      .select(["term", "count"])
      .select(({ fn, eb, ref, val, cast, lit }) =>
        fn<Buffer>("substring", [
          cast(val(Buffer.from(data.buffer, data.byteOffset, data.length)), "bytea"),
          ref("start"),
          eb(ref("count"), "*", lit(POSTING_BYTES)),
        ]).as("data"),
      )
      .as("row"),
  );
}

async function selectBlock(
  tx: Db,
  scopeId: number,
  block: number,
  terms: string,
): Promise<{ term: string; data: Uint8Array }[]> {
  return await tx
    .selectFrom("search_postings")
    .select(["term", "data"])
    .where("scope_id", "=", scopeId)
    .where((eb) => eb("term", "=", eb.fn.any(spacedArray(eb, terms))))
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

async function writeBlock(
  tx: Db,
  scopeId: number,
  block: number,
  changed: readonly { term: string; data: Uint8Array }[],
): Promise<void> {
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
    .from(selectPostings(tx, toRows(shorter)).selectAll().as("changed"))
    .set(({ ref }) => ({ count: ref("changed.count"), data: ref("changed.data") }))
    .where("search_postings.scope_id", "=", scopeId)
    .whereRef("search_postings.term", "=", "changed.term")
    .where("search_postings.block", "=", block)
    .execute();
}

function toRows(postings: readonly { term: string; data: Uint8Array }[]): Omit<BlockRows, "block"> {
  return {
    terms: postings.map(({ term }) => term).join(" "),
    counts: postings.map(({ data }) => data.length / POSTING_BYTES),
    data: Buffer.concat(postings.map(({ data }) => data)),
  };
}
