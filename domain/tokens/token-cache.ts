/** How long a verdict may be reused, in milliseconds: the bound on how long one that no longer holds is still used. */
const VERDICT_LIFE_MS = 5000;
const VERDICTS_KEPT = 10_000;

/** Remembers, for a moment, what was found out about a credential or a person. */
export class TokenCache<T> {
  readonly #kept = new Map<string, { value: T; until: number }>();
  /** Raised when everything is forgotten, so that an answer that was asked for before is not kept. */
  #generation = 0;

  /** What is remembered under `key`, else what `ask` finds. What it does not find is not remembered. */
  async get(key: string, ask: () => Promise<T | null>): Promise<T | null> {
    const known = this.#kept.get(key);
    if (known !== undefined && known.until > Date.now()) return known.value;
    const generation = this.#generation;
    const value = await ask();
    // Guesses must not push the tokenCache of real callers out of the memory, or fill it.
    if (value !== null && generation === this.#generation) this.#keep(key, value);
    return value;
  }

  /** Forgets everything, so that a change is effective at once in this process. */
  forget(): void {
    this.#generation += 1;
    this.#kept.clear();
  }

  #keep(key: string, value: T): void {
    if (this.#kept.size >= VERDICTS_KEPT) this.#kept.clear();
    this.#kept.set(key, { value, until: Date.now() + VERDICT_LIFE_MS });
  }
}
