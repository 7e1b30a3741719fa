import { RESPONSE_CHARACTERS, truncateText } from "../shared/response-budget.ts";

/** What an answer holds beside the two outputs, in characters of JSON. */
const FRAME = 300;
const ROOM = RESPONSE_CHARACTERS - FRAME;
/** Of an output that is cut, what is shown of its end, where errors are. */
const SHARE_OF_END = 1 / 4;

interface Outputs {
  stdout: string;
  stderr: string;
}

/** Cuts what a program printed to what an answer holds. An output that is short leaves its room to the other one. */
export function shortenOutput({ stdout, stderr }: Outputs): Outputs & { isCut: boolean } {
  const [out, errors] = [lengthOf(stdout), lengthOf(stderr)];
  if (out + errors <= ROOM) return { stdout, stderr, isCut: false };
  const half = ROOM / 2;
  return {
    stdout: cut(stdout, Math.max(half, ROOM - errors)),
    stderr: cut(stderr, Math.max(half, ROOM - out)),
    isCut: true,
  };
}

function cut(text: string, room: number): string {
  if (lengthOf(text) <= room) return text;
  const left = room - lengthOf(note(text.length));
  const end = endWithin(text, left * SHARE_OF_END);
  const beginning = beginningWithin(text, left * (1 - SHARE_OF_END));
  return `${beginning}${note(text.length - beginning.length - end.length)}${end}`;
}

function note(leftOut: number): string {
  return `\n[${leftOut} characters left out here. Print less: filter, count or sum up in the program.]\n`;
}

function beginningWithin(text: string, room: number): string {
  let [at, taken] = [0, 0];
  while (at < text.length && (taken += widthAt(text, at)) <= room) at += 1;
  return truncateText(text, at);
}

function endWithin(text: string, room: number): string {
  let [at, taken] = [text.length, 0];
  while (at > 0 && (taken += widthAt(text, at - 1)) <= room) at -= 1;
  return text.slice(at).replace(/^[\uDC00-\uDFFF]/, "");
}

/** In characters of JSON, without the quotation marks. */
function lengthOf(text: string): number {
  return JSON.stringify(text).length - 2;
}

function widthAt(text: string, at: number): number {
  const unit = text.charAt(at);
  return unit > "\u001F" && unit !== '"' && unit !== "\\" ? 1 : lengthOf(unit);
}
