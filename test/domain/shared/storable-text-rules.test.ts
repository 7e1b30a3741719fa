import { expect, test } from "vitest";
import { checkStorableText } from "../../../domain/shared/storable-text-rules.ts";

test.each(["", "a", "é", "\u{1f600}", "\u0001\t\n\u200b\ufffd"])("the database can store %j", (text) => {
  expect(() => checkStorableText("content", text)).not.toThrow();
});

test.each(["\0", "a\0b", "\ud800", "\ude00\ud83d", "\ud83d\0"])("%j is refused with the name of its field", (text) => {
  const refused = { code: "invalid", message: expect.stringMatching(/^content: must be Unicode text/) };
  expect(() => checkStorableText("content", text)).toThrow(expect.objectContaining(refused));
});
