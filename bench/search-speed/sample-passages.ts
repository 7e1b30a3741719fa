import type { IndexedText } from "../../domain/search/index-texts.ts";
import { readCompanyCollection } from "../search-quality/company-collection.ts";

const VOCABULARY = 60_000;
const MIN_WORDS = 60;
const MAX_WORDS = 140;
const SYLLABLES = [
  "ba",
  "co",
  "del",
  "fi",
  "gor",
  "hu",
  "jin",
  "ka",
  "lem",
  "mo",
  "nar",
  "pe",
  "qui",
  "ros",
  "su",
  "tav",
];

/** Writes passages whose words are as frequent as in English text: the word of rank n has a share of 1/n. */
export class SamplePassages {
  readonly #vocabulary: readonly string[];
  #seed = 42;

  private constructor(vocabulary: readonly string[]) {
    this.#vocabulary = vocabulary;
  }

  /** The most frequent words are those of the documents of the imaginary company, so its questions find many passages. */
  static async create(): Promise<SamplePassages> {
    const { documents } = await readCompanyCollection();
    const counts = new Map<string, number>();
    for (const { body } of documents)
      for (const [word] of body.toLowerCase().matchAll(/[a-z]{2,}/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
    const known = [...counts].toSorted(([, a], [, b]) => b - a).map(([word]) => word);
    const invented = Array.from({ length: VOCABULARY - known.length }, (_, index) => inventWord(index));
    return new SamplePassages([...known, ...invented]);
  }

  create(count: number): IndexedText[] {
    return Array.from({ length: count }, (_, index) => ({
      title: this.#write(5),
      body: this.#write(MIN_WORDS + Math.floor(this.#random() * (MAX_WORDS - MIN_WORDS))),
      category: index % 5,
      language: "english",
    }));
  }

  #write(words: number): string {
    return Array.from({ length: words }, () => this.#pickWord()).join(" ");
  }

  #pickWord(): string {
    const rank = Math.floor(Math.exp(this.#random() * Math.log(this.#vocabulary.length)));
    return this.#vocabulary[rank - 1] ?? "";
  }

  /** A linear congruential generator, so that every run has the same passages. */
  #random(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }
}

function inventWord(index: number): string {
  let word = "";
  for (let rest = index + SYLLABLES.length ** 2; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    word += SYLLABLES[rest % SYLLABLES.length] ?? "";
  return word;
}
