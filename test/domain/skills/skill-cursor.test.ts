import { expect, test } from "vitest";
import {
  decodeNameCursor,
  decodePositionCursor,
  encodeNameCursor,
  encodePositionCursor,
} from "../../../domain/skills/skill-cursor.ts";

const invalid = expect.objectContaining({ code: "invalid", message: expect.stringContaining("invalid cursor") });

test("the cursor of a list of skills contains the name of one", () => {
  expect(decodeNameCursor(encodeNameCursor("pdf-forms"))).toBe("pdf-forms");
  for (const cursor of ["", "made up", encodeNameCursor(""), encodeNameCursor("Not a name"), encodeNameCursor("a\0")])
    expect(() => decodeNameCursor(cursor)).toThrow(invalid);
});

test.each([
  { eligible: true, name: "pdf-forms" },
  { eligible: false, name: "A skill of a gateway 🧾" },
])("the cursor of the skills of an agent contains %j", (position) => {
  expect(decodePositionCursor(encodePositionCursor(position))).toEqual(position);
});

test.each(["", "0", "1", "2cGRm", "made up", "1cGRm=", "1cGRm!", "cGRm"])(
  "the cursor %j of the skills of an agent is invalid",
  (cursor) => {
    expect(() => decodePositionCursor(cursor)).toThrow(invalid);
  },
);
