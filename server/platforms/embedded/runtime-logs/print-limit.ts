/** How much of what an app prints is stored. A burst may be larger than what is stored per second afterwards. */
const LIMITS = { lines: { burst: 1000, perSecond: 100 }, characters: { burst: 256 * 1024, perSecond: 32 * 1024 } };

/** Token buckets that limit how many lines of an app, and how many characters, are stored. */
export class PrintLimit {
  #lines = LIMITS.lines.burst;
  #characters = LIMITS.characters.burst;
  #checkedAt = performance.now();

  /** Whether a line may be stored. It then counts. */
  take(characters: number): boolean {
    this.#refill();
    if (this.#lines < 1 || this.#characters < characters) return false;
    this.#lines -= 1;
    this.#characters -= characters;
    return true;
  }

  /** Whether no line may be stored now. */
  isExhausted(): boolean {
    this.#refill();
    return this.#lines < 1 || this.#characters < 1;
  }

  #refill(): void {
    const now = performance.now();
    const seconds = (now - this.#checkedAt) / 1000;
    this.#checkedAt = now;
    this.#lines = Math.min(this.#lines + seconds * LIMITS.lines.perSecond, LIMITS.lines.burst);
    this.#characters = Math.min(this.#characters + seconds * LIMITS.characters.perSecond, LIMITS.characters.burst);
  }
}
