import type { Analyzer } from "../search/analyzer.ts";
import type { IndexHit } from "../search/best-hits.ts";
import { isShort, type Period } from "./read-period.ts";

/** What the ranking reads of a memory. */
export interface RankableMemory {
  indexId: number;
  /** The first `LABEL_CHARACTERS` characters of the content. */
  beginning: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface MemoryQuery {
  /** The terms of its words. */
  words: ReadonlySet<string>;
  /** When the memories were stored that the query asks about. */
  period: Period | undefined;
  /** Of English, in which memories are indexed. */
  analyzer: Analyzer;
}

export const LABEL_CHARACTERS = 62;
/** The name before a colon, as the speaker in `Anna: I like tea`, with at most 60 characters. */
const LABEL = /^(?<label>[^\n]{1,60}?):\s/u;
/** How often the score of a turn counts whose speaker the query names. */
const NAMED_SPEAKER = 2;
/** The turns whose scores count for their neighbours: the best ones. */
const SHARING_HITS = 50;
/** How many turns before and after a turn get a share of its score. */
const NEIGHBOURS = 4;
/** Which part of its score the turns beside it get. The second ones get half of that, the third ones a third. */
const NEIGHBOUR_SHARE = 0.3;
const SHARES = Array.from({ length: NEIGHBOURS }, (_, index) => index + 1).flatMap((distance) =>
  [-distance, distance].map((signed) => ({ distance: signed, share: NEIGHBOUR_SHARE / distance })),
);
/** Turns with more time between them are not of one conversation. */
const NEIGHBOUR_MS = 60 * 60_000;
/** What a memory of the period gets, as a part of the best score. */
const PERIOD_SHARE = 0.5;
/** Scores that differ by less than this part of the best score count as equal. */
const EQUAL_SHARE = 0.1;

/** Returns the index ids that turns of a conversation beside the best hits would have. */
export function neighboursOf(hits: readonly IndexHit[]): number[] {
  const near = hits.slice(0, SHARING_HITS).flatMap(({ indexId }) => SHARES.map(({ distance }) => indexId + distance));
  return [...new Set(near)].filter((indexId) => indexId >= 0);
}

/**
 * Ranks what was found by words again: by who speaks, by the turns of the conversation beside a memory, and by when it was stored.
 *
 * @param hits - the best first
 * @param memories - the memories of the hits, those beside them, and those of the period
 * @returns the best first. The first one is always the best match without its neighbours and its time.
 */
export function rankMemories(
  hits: readonly IndexHit[],
  memories: readonly RankableMemory[],
  query: MemoryQuery,
): IndexHit[] {
  const scores = new Map(hits.map(({ indexId, score }) => [indexId, score]));
  const shares = measureShares(hits, memories);
  const periodScore = PERIOD_SHARE * (hits[0]?.score ?? 1);
  const ranked = memories.map((memory) => {
    const factor = isSpeakerNamed(memory, query) ? NAMED_SPEAKER : 1;
    const own = factor * (scores.get(memory.indexId) ?? 0);
    const shared = factor * (shares.get(memory.indexId) ?? 0);
    const isMatch = own + shared > 0;
    return { ...memory, own, score: own + shared + (isOfPeriod(memory, query, isMatch) ? periodScore : 0) };
  });
  const matches = ranked.filter(({ own }) => own > 0).map((memory) => ({ ...memory, score: memory.own }));
  const best = rankLatestFirst(matches)[0]?.indexId;
  const sorted = rankLatestFirst(ranked.filter(({ score }) => score > 0));
  const highest = Math.max(...sorted.map(({ score }) => score));
  const others = sorted.filter(({ indexId }) => indexId !== best);
  const found = best === undefined ? others : [{ indexId: best, score: highest }, ...others];
  return found.map(({ indexId, score }) => ({ indexId, score }));
}

/** Returns what each turn gets of the scores of the turns before and after it. Memories that are not turns get nothing. */
function measureShares(hits: readonly IndexHit[], memories: readonly RankableMemory[]): Map<number, number> {
  const turns = new Map(memories.filter(({ beginning }) => LABEL.test(beginning)).map((turn) => [turn.indexId, turn]));
  const shares = new Map<number, number>();
  for (const hit of hits.slice(0, SHARING_HITS)) {
    const turn = turns.get(hit.indexId);
    if (turn === undefined) continue;
    for (const { distance, share } of SHARES) {
      const neighbour = turns.get(hit.indexId + distance);
      if (neighbour === undefined || isLongBetween(turn, neighbour)) continue;
      shares.set(neighbour.indexId, (shares.get(neighbour.indexId) ?? 0) + share * hit.score);
    }
  }
  return shares;
}

function isLongBetween(one: RankableMemory, other: RankableMemory): boolean {
  return Math.abs(one.updatedAt.getTime() - other.updatedAt.getTime()) > NEIGHBOUR_MS;
}

function isSpeakerNamed({ beginning }: RankableMemory, { words, analyzer }: MemoryQuery): boolean {
  const label = LABEL.exec(beginning)?.groups?.["label"] ?? "";
  return analyzer.analyze(label).some(({ text }) => words.has(text));
}

/** Of a long period, only matches count. */
function isOfPeriod({ createdAt }: RankableMemory, { period }: MemoryQuery, isMatch: boolean): boolean {
  if (period === undefined || (!isMatch && !isShort(period))) return false;
  return createdAt >= period.from && createdAt < period.to;
}

/** Sorts by score, and of scores that differ by less than a part of the best one, the latest content first. */
export function rankLatestFirst<T extends { score: number; updatedAt: Date }>(
  found: readonly T[],
  equalShare = EQUAL_SHARE,
): T[] {
  const step = equalShare * Math.max(...found.map(({ score }) => score)) || 1;
  const relevance = ({ score }: T): number => Math.round(score / step);
  return found.toSorted((a, b) => relevance(b) - relevance(a) || b.updatedAt.getTime() - a.updatedAt.getTime());
}
