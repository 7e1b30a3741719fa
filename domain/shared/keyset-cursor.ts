import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { DatabaseTables } from "../database-types.ts";
import { ServiceError } from "./errors.ts";

/** The record after which a page begins, in a list that is sorted by time and id, newest first. */
export interface CursorPosition {
  createdAt: string;
  id: string;
}

/** Encodes the cursor of the page after a record. */
export function encodeCursor({ created_at, id }: { created_at: string; id: string }): string {
  return Buffer.from(`${created_at} ${id}`).toString("base64url");
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** @throws {ServiceError} `invalid` for a cursor that this service did not return */
export function decodeCursor(cursor: string): CursorPosition {
  const [, createdAt, id] = CURSOR.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (createdAt === undefined || id === undefined || !isDatabaseTime(createdAt)) throw invalidCursor();
  return { createdAt, id };
}

/** Encodes the cursor of a list that is sorted by a whole number, at least 1. */
export function encodeNumberCursor(number: number): string {
  return Buffer.from(String(number)).toString("base64url");
}

/**
 * @param maxDigits - of the numbers in the list
 * @throws {ServiceError} `invalid` for a cursor that this service did not return
 */
export function decodeNumberCursor(cursor: string, maxDigits: number): number {
  const text = Buffer.from(cursor, "base64url").toString();
  if (!/^[1-9]\d*$/.test(text) || text.length > maxDigits) throw invalidCursor();
  return Number(text);
}

/** Encodes the cursor of a list that is sorted by a text. */
export function encodeTextCursor(text: string): string {
  return Buffer.from(text).toString("base64url");
}

/** @throws {ServiceError} `invalid` for a cursor that this service did not return */
export function decodeTextCursor(cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString();
  if (encodeTextCursor(text) !== cursor) throw invalidCursor();
  return text;
}

export function invalidCursor(): ServiceError {
  return new ServiceError(
    "invalid",
    "cursor: invalid cursor. Pass the next_cursor of an earlier page unchanged, or omit it to start again.",
  );
}

/** Whether a timestamp exists and PostgreSQL accepts it: PostgreSQL has no year 0. */
function isDatabaseTime(timestamp: string): boolean {
  const time = new Date(timestamp);
  return !Number.isNaN(time.getTime()) && time.toISOString() === timestamp && time.getUTCFullYear() > 0;
}

/** The condition that a row comes after a position, for a query that sorts by `created_at desc, id desc`. */
export function isAfterCursor<T extends "apps" | "audit_events">(
  builder: ExpressionBuilder<DatabaseTables, T>,
  { createdAt, id }: CursorPosition,
): Expression<SqlBool> {
  // Both tables have the two columns, but TypeScript cannot derive this for a union of tables.
  const { eb, refTuple, tuple } = builder as unknown as ExpressionBuilder<DatabaseTables, "apps">;
  return eb(refTuple("created_at", "id"), "<", tuple(createdAt as never, id));
}
