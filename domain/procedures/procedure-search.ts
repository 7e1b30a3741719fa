import MiniSearch from "minisearch";
import type { LiveProcedure } from "./list-procedures.ts";

export interface ProcedureHit {
  procedure: LiveProcedure;
  /** Greater is better; comparable within one search only. */
  score: number;
}

const FIELDS = ["name", "description", "fields", "app"] as const;
const WEIGHTS = { name: 3, app: 2, fields: 1.5, description: 1 } as const;
/** Words of a schema that are read, so that a large one does not drown the others. */
const FIELDS_READ = 200;

/** Finds procedures by what they are called, say of themselves, take, and belong to; ranked by BM25. */
export class ProcedureSearch {
  readonly #procedures: readonly LiveProcedure[];
  readonly #index: MiniSearch;

  constructor(procedures: readonly LiveProcedure[]) {
    this.#procedures = procedures;
    this.#index = new MiniSearch({ fields: [...FIELDS], tokenize: words, searchOptions: { boost: WEIGHTS } });
    this.#index.addAll(procedures.map((procedure, id) => ({ id, ...documentOf(procedure) })));
  }

  find(query: string, limit: number, app?: string): ProcedureHit[] {
    const filter = app === undefined ? {} : { filter: ({ id }: { id: number }) => this.#procedures[id]?.slug === app };
    const found = this.#index.search(query, { prefix: true, fuzzy: 0.2, ...filter });
    return found.slice(0, limit).flatMap(({ id, score }) => {
      const procedure = this.#procedures[id as number];
      return procedure === undefined ? [] : [{ procedure, score }];
    });
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
