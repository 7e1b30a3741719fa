import { stripVTControlCharacters } from "node:util";

const MASK = "[masked]";
/** Bounded on purpose: an unbounded pattern on a hostile log takes minutes. */
const TOKENS = /\bsv[akpg]_[0-9A-Za-z]{20,80}\b/g;
const URL_USERINFO = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@]{1,200}@/gi;
// eslint-disable-next-line no-control-regex -- the pattern removes control characters
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Characters that reorder or hide the text around them. */
const INVISIBLE = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes output of a build safe to store and show: without control codes, lone surrogates and known secrets. */
export function sanitizeLog(text: string, secrets: readonly string[]): string {
  const plain = stripVTControlCharacters(text.toWellFormed()).replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  const masked = plain
    .replace(CONTROL, "")
    .replace(INVISIBLE, "")
    .replace(TOKENS, MASK)
    .replace(URL_USERINFO, `$1${MASK}@`);
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, MASK), masked);
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
