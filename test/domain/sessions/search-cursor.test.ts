import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { decodeSearchCursor, encodeSearchCursor } from "../../../domain/sessions/search-cursor.ts";

const position = { updatedAt: "2026-03-01T00:00:00.000Z", sessionId: randomUUID(), seq: 1_000_000 };

test("a cursor is the position that it encodes", () => {
  for (const seq of [1, 10, 1_000_000])
    expect(decodeSearchCursor(encodeSearchCursor({ ...position, seq }))).toEqual({ ...position, seq });
});

test("another text is no cursor", () => {
  const cursor = encodeSearchCursor(position);
  const [encoded] = cursor.split(".");
  for (const text of [
    "",
    "x.1",
    `${encoded}`,
    `${encoded}.0`,
    `${encoded}.01`,
    `${cursor}0`,
    `x ${cursor}`,
    `${cursor}x`,
  ])
    expect(() => decodeSearchCursor(text)).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringMatching(/^cursor: /) }),
    );
});
