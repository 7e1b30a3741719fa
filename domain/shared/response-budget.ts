/** The most that an answer to an agent holds, in characters of JSON: near 6,000 tokens. */
export const RESPONSE_CHARACTERS = 24_000;

/**
 * As many of `items`, from the first on, as are `room` characters of JSON together. At least one, however large, so that
 * whoever reads on from there always gets further.
 */
export function takeWithinBudget<T>(items: readonly T[], room: number): T[] {
  let taken = 0;
  const past = items.findIndex((item) => (taken += JSON.stringify(item).length + 1) > room);
  return past === -1 ? [...items] : items.slice(0, Math.max(1, past));
}

/** The first `length` characters of a text, or one fewer: it never ends in half of a character. */
export function truncateText(text: string, length: number): string {
  const beginning = text.slice(0, length);
  return /[\uD800-\uDBFF]$/.test(beginning) ? beginning.slice(0, -1) : beginning;
}
