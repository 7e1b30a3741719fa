import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import MiniSearch from "minisearch";
import type { LiveProcedure } from "./list-procedures.ts";
import { WordFrequencies } from "./word-frequencies.ts";

export interface ProcedureMatch {
  procedure: LiveProcedure;
  /** A higher score is better. Scores are comparable within one search only. */
  score: number;
}

const FIELDS = ["name", "description", "properties", "app"] as const;
const FIELD_WEIGHTS = { name: 3, app: 2, properties: 1.5, description: 1 } as const;
/** The number of property names of one schema that are indexed, so that a large schema does not outweigh the others. */
const MAX_PROPERTY_NAMES = 200;
const MAX_SCHEMA_DEPTH = 8;
/** The number of procedures that are indexed before the event loop continues with other work. */
const BATCH_SIZE = 100;

/** The number of different words of a query that are read. */
const MAX_READ_WORDS = 256;
/** The number of them that are searched for: the rarest ones. */
const MAX_QUERY_WORDS = 20;
/** The sum of the occurrences of all words that are searched for. It bounds the time of a search. */
const MAX_OCCURRENCES = 10_000;
/** The typing errors that a match may have: a share of the word's length, and at most `MAX_FUZZY`. */
const FUZZY_SHARE = 0.2;
const MAX_FUZZY = 2;
/** The longest word that may have typing errors. The memory of a comparison is the square of the length. */
const MAX_FUZZY_LENGTH = 60;

/** A full-text index of procedures: their names, descriptions, input properties and apps. Ranked by BM25. */
export class ProcedureSearchIndex {
  readonly #procedures: readonly LiveProcedure[];
  readonly #index: MiniSearch;
  readonly #frequencies = new WordFrequencies();

  private constructor(procedures: readonly LiveProcedure[]) {
    this.#procedures = procedures;
    const tokenizeField = (text: string) => {
      const words = splitWords(text);
      this.#frequencies.add(new Set(words));
      return words;
    };
    this.#index = new MiniSearch({
      fields: [...FIELDS],
      tokenize: tokenizeField,
      searchOptions: { tokenize: splitWords, boost: FIELD_WEIGHTS },
    });
  }

  static async build(procedures: readonly LiveProcedure[]): Promise<ProcedureSearchIndex> {
    const index = new ProcedureSearchIndex(procedures);
    for (const [id, procedure] of procedures.entries()) {
      index.#index.add({ id, ...getFields(procedure) });
      if (id % BATCH_SIZE === BATCH_SIZE - 1) await yieldToEventLoop();
    }
    return index;
  }

  /**
   * Finds procedures by words, by prefixes of words and despite typing errors. A word of up to three characters must be
   * typed correctly. A word of one or two ASCII characters matches as a prefix only if it is the whole query.
   *
   * @param slug - searches only the app with this slug
   */
  search(query: string, limit: number, slug?: string): ProcedureMatch[] {
    const queryWords = [...new Set(splitWords(query))].slice(0, MAX_READ_WORDS);
    const isPrefix = (word: string) => queryWords.length === 1 || !/^[a-z0-9]{1,2}$/.test(word);
    const results = this.#index.search(this.#selectRareWords(queryWords, isPrefix).join(" "), {
      prefix: isPrefix,
      fuzzy: (word) => word.length > 3 && word.length <= MAX_FUZZY_LENGTH && FUZZY_SHARE,
      maxFuzzy: MAX_FUZZY,
      ...(slug !== undefined && { filter: ({ id }) => this.#procedures[id as number]?.slug === slug }),
    });
    return results.slice(0, limit).flatMap(({ id, score }) => {
      const procedure = this.#procedures[id as number];
      return procedure === undefined ? [] : [{ procedure, score }];
    });
  }

  /**
   * Drops the most frequent words once a bound is reached, but never the rarest one. Frequent words hardly affect the
   * ranking, and searching for them takes most of the time. Of many words, only those that a procedure has remain.
   */
  #selectRareWords(words: readonly string[], isPrefix: (word: string) => boolean): string[] {
    const counted = words.map((word) => ({
      word,
      count: isPrefix(word) ? this.#frequencies.getCountOfPrefix(word) : this.#frequencies.getCount(word),
    }));
    let sum = 0;
    const selected = counted
      .filter(({ count }) => count > 0 || words.length <= MAX_QUERY_WORDS)
      .toSorted((a, b) => a.count - b.count)
      .slice(0, MAX_QUERY_WORDS)
      .filter(({ count }) => {
        const isRarest = sum === 0;
        sum += count;
        return isRarest || sum <= MAX_OCCURRENCES;
      });
    return selected.map(({ word }) => word);
  }
}

function getFields(procedure: LiveProcedure): Record<(typeof FIELDS)[number], string> {
  const { name, description, inputSchema, app, slug } = procedure;
  const properties = [...iteratePropertyNames(inputSchema)].slice(0, MAX_PROPERTY_NAMES).join(" ");
  return { name, description, properties, app: `${app} ${slug}` };
}

/** Splits names too: `createInvoice` matches "invoice", and `invoices.create` matches "create". */
function splitWords(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

function* iteratePropertyNames(schema: unknown, depth = 0): Generator<string> {
  if (typeof schema !== "object" || schema === null || depth > MAX_SCHEMA_DEPTH) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties" && typeof value === "object" && value !== null) yield* Object.keys(value);
    yield* iteratePropertyNames(value, depth + 1);
  }
}
