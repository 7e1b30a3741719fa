import { RESPONSE_CHARACTERS, truncateText } from "../shared/response-budget.ts";

/** The characters of a response without the two outputs, as JSON. */
const ENVELOPE_CHARACTERS = 300;
const MAX_CHARACTERS = RESPONSE_CHARACTERS - ENVELOPE_CHARACTERS;
/** The share of a truncated output that shows its end, where errors are. The rest shows its beginning. */
const END_SHARE = 1 / 4;

interface Outputs {
  stdout: string;
  stderr: string;
}

/**
 * Truncates the output of a program to the size of a response. If one stream is short, the other may use the remaining
 * size.
 */
export function truncateOutput({ stdout, stderr }: Outputs): Outputs & { isTruncated: boolean } {
  const outLength = getJsonLength(stdout);
  const errLength = getJsonLength(stderr);
  if (outLength + errLength <= MAX_CHARACTERS) return { stdout, stderr, isTruncated: false };
  const half = MAX_CHARACTERS / 2;
  return {
    stdout: truncateMiddle(stdout, Math.max(half, MAX_CHARACTERS - errLength)),
    stderr: truncateMiddle(stderr, Math.max(half, MAX_CHARACTERS - outLength)),
    isTruncated: true,
  };
}

function truncateMiddle(text: string, maxLength: number): string {
  if (getJsonLength(text) <= maxLength) return text;
  const available = maxLength - getJsonLength(formatNote(text.length));
  const end = takeEnd(text, available * END_SHARE);
  const beginning = takeBeginning(text, available * (1 - END_SHARE));
  return `${beginning}${formatNote(text.length - beginning.length - end.length)}${end}`;
}

function formatNote(leftOut: number): string {
  return `\n[${leftOut} characters left out here. Print less: filter, count or sum up in the program.]\n`;
}

function takeBeginning(text: string, maxLength: number): string {
  let end = 0;
  let length = 0;
  while (end < text.length && (length += getJsonLengthAt(text, end)) <= maxLength) end += 1;
  return truncateText(text, end);
}

function takeEnd(text: string, maxLength: number): string {
  let start = text.length;
  let length = 0;
  while (start > 0 && (length += getJsonLengthAt(text, start - 1)) <= maxLength) start -= 1;
  // The second half of a surrogate pair cannot stand alone.
  return text.slice(start).replace(/^[\uDC00-\uDFFF]/, "");
}

/** The length of a text as JSON, without the quotation marks. */
function getJsonLength(text: string): number {
  return JSON.stringify(text).length - 2;
}

function getJsonLengthAt(text: string, at: number): number {
  const unit = text.charAt(at);
  return unit > "\u001F" && unit !== '"' && unit !== "\\" ? 1 : getJsonLength(unit);
}
