import { expect, test } from "vitest";
import { decodeNumberCursor, encodeNumberCursor } from "../../../domain/shared/keyset-cursor.ts";

const toCursor = (text: string) => Buffer.from(text).toString("base64url");

test("the cursor of a number is text for a URL, and the number is read from it again", () => {
  for (const number of [1, 9, 10, 4711, 999_999_999]) {
    const cursor = encodeNumberCursor(number);
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(cursor).not.toBe(String(number));
    expect(decodeNumberCursor(cursor, 9)).toBe(number);
  }
});

test("a cursor of anything but a whole number from 1 on, with at most the allowed digits, is invalid", () => {
  for (const text of ["", "0", "01", "-1", "1.5", "1e3", " 1", "1 ", "x1", "1x", "1000000000"])
    expect([text, code(toCursor(text))]).toEqual([text, "invalid"]);
  expect(code("~")).toBe("invalid");
});

function code(cursor: string): unknown {
  try {
    return decodeNumberCursor(cursor, 9);
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}
