import { ServiceError } from "./errors.ts";

/** Where a page begins: after the record with this time and id, in a list with the newest first. */
export interface CursorPosition {
  createdAt: string;
  id: string;
}

/** The cursor of the page after a record. */
export function cursorAfter({ created_at, id }: { created_at: string; id: string }): string {
  return Buffer.from(`${created_at} ${id}`).toString("base64url");
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** @throws {ServiceError} `invalid` for a cursor that no page gave out */
export function parseCursor(cursor: string): CursorPosition {
  const [, createdAt, id] = CURSOR.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (createdAt === undefined || id === undefined || !isTime(createdAt))
    throw new ServiceError(
      "invalid",
      "cursor: pass the next_cursor of an earlier page unchanged, or leave it out to start again.",
    );
  return { createdAt, id };
}

/** Whether it is a time that there is, for databases too: they know no year 0. */
function isTime(timestamp: string): boolean {
  const time = new Date(timestamp);
  return !Number.isNaN(time.getTime()) && time.toISOString() === timestamp && time.getUTCFullYear() > 0;
}
