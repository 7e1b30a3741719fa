import { SERVICE_PREFIX } from "../shared/log-line-prefix.ts";

/** A log keeps its first and its last half. In characters. */
const HALF = 512 * 1024;

/** The line between the two halves, which says how much is missing. */
const MARKER = /\n\[service\] (\d{1,15}) characters left out here\n/y;

export interface LogLine {
  /** Without its line break. */
  text: string;
  /** The position after the line. */
  position: number;
}

/**
 * The text of one log, with a bounded length: its first and its last half, and between them a marker that says how much was
 * dropped. A position counts the characters of the whole log with the dropped ones, so it never changes its meaning.
 */
export class LogText {
  #head = "";
  #tail = "";
  #dropped = 0;

  /** Reads the stored form of a log. */
  static parse(stored: string): LogText {
    const text = new LogText();
    MARKER.lastIndex = HALF;
    const marker = MARKER.exec(stored);
    if (marker === null) {
      text.append(stored);
      return text;
    }
    text.#head = stored.slice(0, HALF);
    text.#dropped = Number(marker[1]);
    text.#tail = stored.slice(MARKER.lastIndex);
    return text;
  }

  append(added: string): void {
    const room = HALF - this.#head.length;
    this.#head += added.slice(0, room);
    this.#tail += added.slice(Math.max(room, 0));
    if (this.#tail.length <= HALF) return;
    this.#dropped += this.#tail.length - HALF;
    this.#tail = this.#tail.slice(-HALF);
  }

  /**
   * Returns the whole lines after a position, of `limit` characters together. A longer line is returned in pieces.
   *
   * @param isEnded - whether the log is complete. The text after its last line break is then a line too.
   */
  readLines(position: number, limit: number, isEnded: boolean): LogLine[] {
    const gapEnd = this.#head.length + this.#dropped;
    if (this.#dropped > 0 && position < gapEnd) {
      const text = this.#head.slice(position, position + limit);
      // The next step returns the marker if this one ends exactly before it, because it may end within a line.
      const reachesGap = text.length < limit;
      const lines = splitLines(text, { position, limit, isEnded: reachesGap });
      // A reader that was too slow for the dropped part gets the marker instead.
      const missing = gapEnd - Math.max(position, this.#head.length);
      return reachesGap ? [...lines, { text: leftOut(missing), position: gapEnd }] : lines;
    }
    const first = this.#head.slice(position, position + limit);
    const start = Math.max(position - gapEnd, 0);
    const text = first + this.#tail.slice(start, start + limit - first.length);
    return splitLines(text, { position, limit, isEnded });
  }

  /** The stored form of the log. */
  toString(): string {
    const marker = this.#dropped === 0 ? "" : `\n${leftOut(this.#dropped)}\n`;
    return this.#head + marker + this.#tail;
  }
}

function leftOut(characters: number): string {
  return `${SERVICE_PREFIX} ${characters} characters left out here`;
}

function splitLines(
  text: string,
  { position, limit, isEnded }: { position: number; limit: number; isEnded: boolean },
): LogLine[] {
  const lines: LogLine[] = [];
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    lines.push({ text: text.slice(start, end), position: position + end + 1 });
    start = end + 1;
  }
  const isWhole = isEnded && text.length < limit;
  if (start < text.length && (isWhole || (start === 0 && text.length >= limit))) {
    // A character of two units stays in one piece.
    const end = /[\ud800-\udbff]$/.test(text) && !isWhole ? text.length - 1 : text.length;
    lines.push({ text: text.slice(start, end), position: position + end });
  }
  return lines;
}
