import { toPlainText } from "./plain-text.ts";
import { applyMasks, MASK } from "./secret-masks.ts";

/** Bounded on purpose: an unbounded pattern on a hostile log takes minutes. */
const TOKENS = /\bsv[akpg]_[0-9A-Za-z]{20,80}\b/g;
const URL_USERINFO = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@]{1,200}@/gi;

/** Makes output of a build safe to store and show: without control codes, lone surrogates and known secrets. */
export function sanitizeLog(text: string, secrets: readonly string[]): string {
  // The secrets first: one that contains a token or the user info of a URL would not be found afterwards.
  return applyMasks(toPlainText(text), secrets).replace(TOKENS, MASK).replace(URL_USERINFO, `$1${MASK}@`);
}
