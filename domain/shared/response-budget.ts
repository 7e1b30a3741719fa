/** The maximum size of a response to an agent, in characters of JSON: about 6,000 tokens. */
export const RESPONSE_CHARACTERS = 24_000;

/**
 * Takes items from the start of a list while their JSON fits into `maxCharacters`. It takes at least one item, even if
 * this item is too large, so that every page makes progress.
 */
export function takeWithinBudget<T>(items: readonly T[], maxCharacters: number): T[] {
  let characters = 0;
  for (const [index, item] of items.entries()) {
    // One more character for the comma.
    characters += JSON.stringify(item).length + 1;
    if (characters > maxCharacters) return items.slice(0, Math.max(1, index));
  }
  return [...items];
}

/** Cuts a text to at most `maxLength` characters, and never in the middle of a surrogate pair. */
export function truncateText(text: string, maxLength: number): string {
  const beginning = text.slice(0, maxLength);
  return /[\uD800-\uDBFF]$/.test(beginning) ? beginning.slice(0, -1) : beginning;
}

/** Cuts a text so that it has at most `maxLength` characters as a JSON string, without the quotes. */
export function truncateForJson(text: string, maxLength: number): string {
  let beginning = truncateText(text, maxLength);
  for (;;) {
    const length = JSON.stringify(beginning).length - 2;
    if (length <= maxLength) return beginning;
    beginning = truncateText(beginning, Math.floor((beginning.length * maxLength) / length));
  }
}
