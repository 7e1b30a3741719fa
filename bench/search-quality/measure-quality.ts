import type { Collection } from "./collection.ts";

/** The means over all questions with a relevant document. All are between 0 and 1, and higher is better. */
export interface Quality {
  /** Whether the best documents are first: the discounted gain of the first ten hits, relative to the best possible order. */
  ndcg10: number;
  /** Which share of the relevant documents is in the first five hits. */
  recall5: number;
  recall10: number;
  /** The reciprocal rank of the first relevant hit. */
  mrr: number;
}

/** @param search - returns the ids of documents, the best first */
export async function measureQuality(
  { questions, judgments }: Pick<Collection, "questions" | "judgments">,
  search: (question: string) => Promise<string[]>,
): Promise<Quality> {
  const judged = Map.groupBy(judgments, ({ question }) => question);
  const scores: Quality[] = [];
  for (const { id, text } of questions) {
    const gradeOf = new Map((judged.get(id) ?? []).map(({ document, grade }) => [document, grade]));
    if (![...gradeOf.values()].some((grade) => grade > 0)) continue;
    scores.push(scoreRanking(await search(text), gradeOf));
  }
  const mean = (key: keyof Quality): number => scores.reduce((sum, score) => sum + score[key], 0) / scores.length;
  return { ndcg10: mean("ndcg10"), recall5: mean("recall5"), recall10: mean("recall10"), mrr: mean("mrr") };
}

function scoreRanking(hits: readonly string[], gradeOf: ReadonlyMap<string, number>): Quality {
  const grades = hits.map((id) => Math.max(0, gradeOf.get(id) ?? 0));
  const relevant = [...gradeOf.values()].filter((grade) => grade > 0);
  const recallAt = (cut: number): number => grades.slice(0, cut).filter((grade) => grade > 0).length / relevant.length;
  const first = grades.findIndex((grade) => grade > 0);
  return {
    ndcg10: discountedGain(grades) / discountedGain(relevant.toSorted((a, b) => b - a)),
    recall5: recallAt(5),
    recall10: recallAt(10),
    mrr: first === -1 ? 0 : 1 / (first + 1),
  };
}

/** The gain of a grade doubles with each step, as in Burges et al. (2005). */
function discountedGain(grades: readonly number[]): number {
  return grades.slice(0, 10).reduce((sum, grade, index) => sum + (2 ** grade - 1) / Math.log2(index + 2), 0);
}
