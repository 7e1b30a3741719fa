import { getLoadedAnalyzer } from "./analyzer.ts";
import type { Language } from "./languages.ts";

export interface RankableHit {
  title: string;
  body: string;
  score: number;
}

/** How much the closest possible words add to a score, as a share of it. */
const PROXIMITY_WEIGHT = 0.1;
/** Words that are further apart add nothing. */
const WINDOW = 8;

export interface ProximityQuery {
  text: string;
  language: Language;
  /** How many of the best hits are needed; the others are not analyzed. */
  limit: number;
}

/**
 * Ranks hits again by how close the words of the query are in their texts. The scores that it returns include the closeness.
 * It does not change the order of hits that have only one of the words.
 *
 * @returns the best hits first, at most `limit`
 */
export function rankByProximity<T extends RankableHit>(
  { text, language, limit }: ProximityQuery,
  hits: readonly T[],
): T[] {
  const sorted = hits.toSorted((a, b) => b.score - a.score);
  const analyzer = getLoadedAnalyzer(language);
  const words = [...new Set(analyzer.analyze(text).map(({ text: term }) => term))];
  if (words.length < 2) return sorted.slice(0, limit);
  const indexByTerm = new Map(words.map((term, index) => [term, index]));
  const closenessOf = (content: string): number => {
    const found = analyzer.analyze(content).flatMap(({ text: term, position }) => {
      const index = indexByTerm.get(term);
      return index === undefined ? [] : [{ index, position }];
    });
    return measureCloseness(found, words.length);
  };
  const ranked: T[] = [];
  for (const hit of sorted) {
    // The best possible closeness would not be enough for this hit and those after it.
    if (hit.score * (1 + PROXIMITY_WEIGHT) < (ranked[limit - 1]?.score ?? 0)) break;
    const closeness = Math.max(closenessOf(hit.title), closenessOf(hit.body));
    insertSorted(ranked, { ...hit, score: hit.score * (1 + PROXIMITY_WEIGHT * closeness) });
  }
  return ranked.slice(0, limit);
}

/** Inserts a hit after those with an equal score. */
function insertSorted<T extends RankableHit>(ranked: T[], hit: T): void {
  const before = ranked.findLastIndex(({ score }) => score >= hit.score);
  ranked.splice(before + 1, 0, hit);
}

interface Occurrence {
  /** The number of the word in the query. */
  index: number;
  position: number;
}

/** Returns 1 when each word of the query is followed by the next one somewhere, and 0 when all are far apart. */
function measureCloseness(occurrences: readonly Occurrence[], wordCount: number): number {
  const best = new Float64Array(wordCount - 1);
  const last: (number | undefined)[] = [];
  for (const { index, position } of occurrences) {
    last[index] = position;
    for (const pair of [index - 1, index]) {
      const [start, end] = [last[pair], last[pair + 1]];
      // Before the first word of the query and after the last one there is none.
      if (start === undefined || end === undefined) continue;
      // Words in the order of the query count in full, in the reverse order by half.
      const distance = Math.abs(end - start);
      const closeness = distance > WINDOW ? 0 : (end > start ? 1 : 0.5) / Math.max(1, distance);
      best[pair] = Math.max(best[pair] ?? 0, closeness);
    }
  }
  return best.reduce((sum, closeness) => sum + closeness, 0) / best.length;
}
