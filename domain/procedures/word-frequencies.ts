/**
 * Counts in how many indexed fields each word occurs. The cost of a search for the word is proportional to this count.
 */
export class WordFrequencies {
  readonly #countByWord = new Map<string, number>();
  /** All words in order, and the sum of the counts before each. Built on first use. */
  #sorted: { words: readonly string[]; sumBefore: readonly number[] } | undefined;

  add(words: Iterable<string>): void {
    this.#sorted = undefined;
    for (const word of words) this.#countByWord.set(word, this.getCount(word) + 1);
  }

  getCount(word: string): number {
    return this.#countByWord.get(word) ?? 0;
  }

  /** Sums the counts of all words with this prefix, in logarithmic time. */
  getCountOfPrefix(prefix: string): number {
    const { words, sumBefore } = (this.#sorted ??= this.#sortWords());
    const first = findFirstNotLess(words, prefix);
    const end = findFirstNotLess(words, `${prefix}\uFFFF`);
    return (sumBefore[end] ?? 0) - (sumBefore[first] ?? 0);
  }

  #sortWords(): { words: readonly string[]; sumBefore: readonly number[] } {
    const words = [...this.#countByWord.keys()].toSorted((a, b) => (a < b ? -1 : 1));
    const sumBefore = [0];
    for (const word of words) sumBefore.push((sumBefore.at(-1) ?? 0) + this.getCount(word));
    return { words, sumBefore };
  }
}

/** Finds the index of the first word that is not less than `bound`, by binary search. */
function findFirstNotLess(words: readonly string[], bound: string): number {
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((words[middle] ?? "") < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
