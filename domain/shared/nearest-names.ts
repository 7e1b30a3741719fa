/** In characters. A longer name is compared by its beginning. */
const MAX_COMPARED = 100;
const MAX_NAMES = 3;
const MIN_SIMILARITY = 0.5;
/** A name that is much less similar than the most similar one is left out. */
const MIN_SHARE = 0.85;
/** Most names of tools begin like this, so it does not make two of them similar. */
const PREFIX = /^service[_.-]/i;

/**
 * Finds the names that somebody most likely meant by a name that does not exist: those with most letter pairs in common, also
 * when the words are in another order. At most three, most similar first.
 */
export function findNearestNames(name: string, names: Iterable<string>): string[] {
  const pairs = letterPairs(name);
  const similar: { candidate: string; similarity: number }[] = [];
  for (const candidate of names) {
    const similarity = compare(pairs, letterPairs(candidate));
    if (similarity >= MIN_SIMILARITY) similar.push({ candidate, similarity });
  }
  const sorted = similar.toSorted((a, b) => b.similarity - a.similarity).slice(0, MAX_NAMES);
  const least = (sorted[0]?.similarity ?? 0) * MIN_SHARE;
  return sorted.filter(({ similarity }) => similarity >= least).map(({ candidate }) => candidate);
}

/** Formats a question such as `Did you mean "a" or "b"?`, with a space before it; an empty text without names. */
export function askForName(names: readonly string[]): string {
  if (names.length === 0) return "";
  const quoted = names.map((name) => JSON.stringify(name.slice(0, MAX_COMPARED)));
  return ` Did you mean ${quoted.join(" or ")}?`;
}

/** The pairs of adjacent letters and digits of a name, without case and separators. The first letter counts as a pair, too. */
function letterPairs(name: string): Set<string> {
  const letters = name
    .replace(PREFIX, "")
    .slice(0, MAX_COMPARED)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
  const pairs = new Set(letters.slice(0, 1));
  for (let at = 0; at + 1 < letters.length; at++) pairs.add(letters.slice(at, at + 2));
  return pairs;
}

/** The mean of the Dice and the overlap coefficient. The second one finds a name of which only one word is given. */
function compare(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const pair of a) if (b.has(pair)) common += 1;
  return common / (a.size + b.size) + common / Math.min(a.size, b.size) / 2;
}
