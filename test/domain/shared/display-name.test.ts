import { expect, test } from "vitest";
import { checkDisplayName } from "../../../domain/shared/display-name.ts";

test.each(["x", "Größe und mehr 😀", "x".repeat(100)])("the name %j is accepted", (name) => {
  expect(() => checkDisplayName(name)).not.toThrow();
});

test.each(["", " x", "x ", "x".repeat(101), "a\nb", "a\0b", "a\u202eb", "a\u200bb", "a\u2028b", "a\u2029b", "\ud800"])(
  "the name %j is rejected",
  (name) => {
    expect(() => checkDisplayName(name)).toThrow(expect.objectContaining({ code: "invalid" }));
  },
);
