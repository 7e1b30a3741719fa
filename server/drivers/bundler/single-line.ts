import { stripVTControlCharacters } from "node:util";

const MAX_LENGTH = 300;

/** Makes untrusted text safe to show in one line: no escape sequences, no control characters, 300 characters at most. */
export function toSingleLine(text: string): string {
  return cutSingleLine(text, MAX_LENGTH);
}

/** The same with another limit. */
export function cutSingleLine(text: string, maxLength: number): string {
  // Control characters, format characters (such as direction overrides), lone surrogates, line separators, and spaces of a
  // width of their own, such as those of pnpm.
  const line = stripVTControlCharacters(text)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+|(?! )\p{Zs}/gu, " ")
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}
