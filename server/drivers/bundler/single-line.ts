import { stripVTControlCharacters } from "node:util";

const MAX_LENGTH = 300;

/** Makes untrusted text safe to show in one line: no escape sequences, no control characters, 300 characters at most. */
export function toSingleLine(text: string): string {
  // Control characters, format characters (such as direction overrides), lone surrogates, line separators, and spaces of a
  // width of their own, such as those of pnpm.
  const line = stripVTControlCharacters(text)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+|(?! )\p{Zs}/gu, " ")
    .trim();
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}
