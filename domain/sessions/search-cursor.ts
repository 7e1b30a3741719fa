import type { TranscriptPosition } from "../ports/transcript-search.ts";
import { decodeCursor, encodeCursor, invalidCursor } from "../shared/keyset-cursor.ts";

/** Encodes the cursor of the page after a position. */
export function encodeSearchCursor({ updatedAt, sessionId, seq }: TranscriptPosition): string {
  return `${encodeCursor({ created_at: updatedAt, id: sessionId })}.${seq}`;
}

const CURSOR = /^([\w-]+)\.([1-9]\d{0,6})$/;

/** @throws {ServiceError} `invalid` for a cursor that this service did not return */
export function decodeSearchCursor(cursor: string): TranscriptPosition {
  const [, position, seq] = CURSOR.exec(cursor) ?? [];
  if (position === undefined) throw invalidCursor();
  const { createdAt: updatedAt, id: sessionId } = decodeCursor(position);
  return { updatedAt, sessionId, seq: Number(seq) };
}
