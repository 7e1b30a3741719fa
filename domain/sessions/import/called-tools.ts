import { LRUCache } from "lru-cache";
import { SESSION_LIMITS } from "../session-rules.ts";
import { readId } from "./entry-builder.ts";

/** Results are close to their calls, so those of older calls are not expected. */
const MAX_CALLS = 1000;

/** The names of the tools that were called and whose results are not read yet: a result has no name of its own. */
export class CalledTools {
  readonly #names = new LRUCache<string, string>({ max: MAX_CALLS });

  add(callId: unknown, name: unknown): void {
    const id = readId(callId);
    if (id !== undefined && typeof name === "string" && name.length <= SESSION_LIMITS.idCharacters)
      this.#names.set(id, name);
  }

  /** Returns the name of the tool that was called; `undefined` for an unknown call. */
  take(callId: unknown): string | undefined {
    const id = readId(callId);
    if (id === undefined) return undefined;
    const name = this.#names.get(id);
    this.#names.delete(id);
    return name;
  }
}
