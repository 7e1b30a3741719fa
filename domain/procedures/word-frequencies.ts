/** How often words occur in what a search looks through, and so how much work a word of a query is. */
export class WordCounts {
  readonly #counts = new Map<string, number>();
  /** The words in order, and how often those before each occur together; made when first asked for. */
  #order: { words: readonly string[]; before: readonly number[] } | undefined;

  add(words: Iterable<string>): void {
    this.#order = undefined;
    for (const word of words) this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }

  of(word: string): number {
    return this.#counts.get(word) ?? 0;
  }

  /** How often all words occur that begin so, in a time that hardly grows with their number. */
  beginningWith(beginning: string): number {
    const { words, before } = (this.#order ??= this.#inOrder());
    const [first, past] = [beginning, `${beginning}\uFFFF`].map((bound) => firstFrom(words, bound));
    return (before[past ?? 0] ?? 0) - (before[first ?? 0] ?? 0);
  }

  #inOrder(): { words: readonly string[]; before: readonly number[] } {
    const words = [...this.#counts.keys()].toSorted((a, b) => (a < b ? -1 : 1));
    const before = [0];
    for (const word of words) before.push((before.at(-1) ?? 0) + this.of(word));
    return { words, before };
  }
}

/** Where in `words`, which are in order, the first is that is no less than `bound`. */
function firstFrom(words: readonly string[], bound: string): number {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((words[middle] ?? "") < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
