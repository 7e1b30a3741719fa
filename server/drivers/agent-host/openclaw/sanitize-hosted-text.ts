import { toPlainText } from "../../../../domain/shared/plain-text.ts";
import { truncateText } from "../../../../domain/shared/response-budget.ts";

/** Returns a text of a gateway on one line, without control and hidden characters. It is empty if nothing remains. */
export function toLine(text: string | null | undefined, maxLength: number): string {
  const line = toPlainText(truncateText(text ?? "", 4 * maxLength))
    .replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, " ")
    .trim();
  return truncateText(line, maxLength).trim();
}

/** Returns a text of a gateway without control and hidden characters, and says how much of it was cut. */
export function toText(text: string, maxLength: number): string {
  const plain = toPlainText(text);
  if (plain.length <= maxLength) return plain;
  const shown = truncateText(plain, maxLength);
  return `${shown}\n[${plain.length - shown.length} more characters]`;
}
