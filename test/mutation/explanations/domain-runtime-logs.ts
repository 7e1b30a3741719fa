import type { Explanation } from "./explanation.ts";

const LOWEST_LEVEL = "Equivalent: `debug` is the lowest level, so all records have it or a higher one.";
const NEVER = "Equivalent: the index is within the list.";
const KEPT_CHUNKS = "Not caught: the bound limits the memory of readers at different places, and nothing else.";

export const DOMAIN_RUNTIME_LOGS: Record<string, Explanation[]> = {
  "domain/runtime-logs/follow-runtime-logs.ts": [
    { original: '"debug"', reason: LOWEST_LEVEL },
    { original: "chunk.at(-1)?.id", reason: "Equivalent: a chunk has at least one event." },
  ],
  "domain/runtime-logs/list-runtime-logs.ts": [
    { original: "last !== undefined", reason: "Equivalent: a page with another one after it has at least one record." },
  ],
  "domain/runtime-logs/runtime-log-tail.ts": [
    { original: "[]", reason: "Equivalent: the list is replaced when the stored records have been read." },
    { original: "at < this.#records.length", replacement: "at <= this.#records.length", reason: NEVER },
    { original: "record === undefined", replacement: "false", reason: NEVER },
    { original: "this.#chunks.size >= MAX_KEPT_CHUNKS", reason: KEPT_CHUNKS },
    { original: "this.#chunks.clear();", reason: KEPT_CHUNKS },
    {
      original: "this.#records.shift()?.message",
      reason: "Equivalent: there is a record while there are too many, or too many characters.",
    },
  ],
  "domain/runtime-logs/runtime-log-view.ts": [
    { original: '"debug"', reason: LOWEST_LEVEL },
    { original: "from === null", replacement: "false", reason: "Equivalent: every time is later than 1970." },
  ],
};
