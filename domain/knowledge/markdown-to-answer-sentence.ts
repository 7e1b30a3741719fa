/**
 * Makes a sentence of an answer from Markdown, without the marks of Markdown and without the point at its end, so that a
 * citation can follow. A number in brackets would look like a citation, so it gets parentheses; at the end of the sentence it
 * is the number of a footnote, and left out.
 */
export function toAnswerSentence(markdown: string): string {
  return markdown
    .replaceAll(/\s+/g, " ")
    .replaceAll(/!?\[([^[\]]*)\]\([^)\s]{0,300}\)/g, "$1")
    .replaceAll(/(\*\*|__|`)(?=\S)(.{0,300}?\S)\1/g, "$2")
    .replaceAll(/(?<=[.!?]["')\]]?)(?:\[\d{1,4}\])+$/g, "")
    .replaceAll(/\[(\d+(?:\s*,\s*\d+)*)\]/g, "($1)")
    .replace(/^\|\s*|(?<!\s)\s*\|$/g, "")
    .trim()
    .replace(/(?<![.;:,])[.;:,]+$/, "");
}
