import { toPlainText } from "./plain-text.ts";

/** What a log shows instead of a secret. */
export const MASK = "[masked]";

/** A shorter line of a secret occurs in other texts as well, such as `}`. */
const MIN_LINE_LENGTH = 16;

/** Each mask is looked up in each line of a log, so further ones would cost the service more time than the app. */
const MAX_LINES = 500;

/**
 * The texts to mask for the secrets of an app. Programs also print secrets as JSON, and those with several lines line by
 * line. Secrets of less than eight characters are not masked, because they occur in other texts.
 */
export function secretMasks(secrets: readonly string[]): string[] {
  // A log contains plain text, and the messages of a process may contain the secret as it is.
  const forms = secrets.flatMap((secret) =>
    [secret, toPlainText(secret), JSON.stringify(secret).slice(1, -1)].flatMap(encodingsOf),
  );
  // The longest first, because a secret can contain another one.
  return [...new Set([...forms, ...linesOf(secrets)])].toSorted((a, b) => b.length - a.length);
}

/** The lines of the secrets that have several. If there are too many, those of the secrets with the fewest. */
function linesOf(secrets: readonly string[]): string[] {
  const lines = secrets.map((secret) => secret.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH));
  return lines
    .toSorted((a, b) => a.length - b.length)
    .flat()
    .slice(0, MAX_LINES);
}

/** Replaces the given texts, which {@link secretMasks} returns. */
export function applyMasks(text: string, masks: readonly string[]): string {
  return masks.reduce((shown, mask) => shown.replaceAll(mask, MASK), text);
}

/** The texts to mask for a secret: itself, URL-encoded, and inside base64 at each of the three alignments. */
export function encodingsOf(secret: string): string[] {
  if (secret.length < 8) return [];
  const aligned = [0, 1, 2].map((skip) => {
    const encoded = Buffer.concat([Buffer.alloc(skip), Buffer.from(secret)]).toString("base64");
    // The first and last characters depend on the bytes before and after the secret.
    return encoded.slice(skip === 0 ? 0 : 4, encoded.length - 4);
  });
  return [secret, encodeURIComponent(secret), ...aligned.filter((form) => form.length >= 8)];
}
