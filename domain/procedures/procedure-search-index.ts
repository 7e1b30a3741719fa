import { setImmediate as othersTurn } from "node:timers/promises";
import MiniSearch from "minisearch";
import type { LiveProcedure } from "./list-procedures.ts";
import { WordCounts } from "./word-frequencies.ts";

export interface ProcedureHit {
  procedure: LiveProcedure;
  /** Greater is better; comparable within one search only. */
  score: number;
}

const FIELDS = ["name", "description", "fields", "app"] as const;
const WEIGHTS = { name: 3, app: 2, fields: 1.5, description: 1 } as const;
/** Words of a schema that are read, so that a large one does not drown the others. */
const FIELDS_READ = 200;
/** Procedures indexed at a time, between which other calls get their turn. */
const INDEXED_AT_ONCE = 100;

/** Different words of a query that are looked for. */
const WORDS_SEARCHED = 20;
/** How often what a query looks for may occur, all of its words together: the bound on what a search takes. */
const OCCURRENCES_SEARCHED = 10_000;
/** Slips that are overlooked, for each letter of a word and in all. */
const SLIPS = 0.2;
const MOST_SLIPS = 2;

/** Finds procedures by what they are called, say of themselves, take, and belong to; ranked by BM25. */
export class ProcedureSearch {
  readonly #procedures: readonly LiveProcedure[];
  readonly #index: MiniSearch;
  /** In how many fields of procedures each word is. */
  readonly #counts = new WordCounts();

  private constructor(procedures: readonly LiveProcedure[]) {
    this.#procedures = procedures;
    const tokenize = (text: string) => {
      const found = words(text);
      this.#counts.add(new Set(found));
      return found;
    };
    this.#index = new MiniSearch({ fields: [...FIELDS], tokenize, searchOptions: { tokenize: words, boost: WEIGHTS } });
  }

  static async over(procedures: readonly LiveProcedure[]): Promise<ProcedureSearch> {
    const search = new ProcedureSearch(procedures);
    for (const [id, procedure] of procedures.entries()) {
      search.#index.add({ id, ...documentOf(procedure) });
      if (id % INDEXED_AT_ONCE === INDEXED_AT_ONCE - 1) await othersTurn();
    }
    return search;
  }

  /** A word is also found by its beginning and in spite of a slip, but for those so short that everything would fit. */
  find(query: string, limit: number, app?: string): ProcedureHit[] {
    const asked = [...new Set(words(query))].slice(0, WORDS_SEARCHED);
    const isBeginning = (word: string) => asked.length === 1 || !/^[a-z0-9]{1,2}$/.test(word);
    const found = this.#index.search(this.#telling(asked, isBeginning).join(" "), {
      prefix: isBeginning,
      fuzzy: (word) => word.length > 3 && SLIPS,
      maxFuzzy: MOST_SLIPS,
      ...(app === undefined ? {} : { filter: ({ id }) => this.#procedures[id as number]?.slug === app }),
    });
    return found.slice(0, limit).flatMap(({ id, score }) => {
      const procedure = this.#procedures[id as number];
      return procedure === undefined ? [] : [{ procedure, score }];
    });
  }

  /**
   * The words that tell procedures apart, the rarest first. Those that most procedures have in common say next to nothing
   * of any, and looking through them all is what takes the time.
   */
  #telling(asked: readonly string[], isBeginning: (word: string) => boolean): string[] {
    const counted = asked.map((word) => ({
      word,
      count: isBeginning(word) ? this.#counts.beginningWith(word) : this.#counts.of(word),
    }));
    let sum = 0;
    const telling = counted
      .toSorted((a, b) => a.count - b.count)
      .filter(({ count }) => {
        const isRarest = sum === 0;
        sum += count;
        return isRarest || sum <= OCCURRENCES_SEARCHED;
      });
    return telling.map(({ word }) => word);
  }
}

function documentOf({
  name,
  description,
  inputSchema,
  app,
  slug,
}: LiveProcedure): Record<(typeof FIELDS)[number], string> {
  return {
    name,
    description,
    fields: [...propertyNames(inputSchema)].slice(0, FIELDS_READ).join(" "),
    app: `${app} ${slug}`,
  };
}

/** `createInvoice` is found by "invoice", and `invoices.create` by "create". */
function words(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

function* propertyNames(schema: unknown, depth = 0): Generator<string> {
  if (typeof schema !== "object" || schema === null || depth > 8) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties" && typeof value === "object" && value !== null) yield* Object.keys(value);
    yield* propertyNames(value, depth + 1);
  }
}
