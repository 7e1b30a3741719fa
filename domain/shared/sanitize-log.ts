import { stripVTControlCharacters } from "node:util";
import { applyMasks, MASK } from "./secret-masks.ts";

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
  return applyMasks(masked, secrets);
}
