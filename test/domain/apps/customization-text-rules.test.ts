import { expect, test } from "vitest";
import { checkCustomization } from "../../../domain/apps/customization-text-rules.ts";
import type { AppBuilder } from "../../../domain/ports/app-builder-agent.ts";

const BUILDER: AppBuilder = { customize: () => Promise.resolve() };

test("a customization is plain text of at most 20,000 characters, and not blank", () => {
  for (const text of ["x", "x".repeat(20_000), "Change the title.\r\n\tUse “Grüße” 🎉.", undefined])
    expect(() => checkCustomization(text, BUILDER)).not.toThrow();
  for (const [text, reason] of [
    ["", /blank/],
    [" \n\t", /blank/],
    ["x".repeat(20_001), /at most 20000 characters/],
    ["a\0b", /plain text/],
    ["a\u001b[31m", /plain text/],
    ["a\u007f", /plain text/],
    ["a\ud800", /plain text/],
  ] as const)
    expect(() => checkCustomization(text, BUILDER)).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringMatching(reason) }),
    );
});

test("a customization requires an app builder, and an app without one does not", () => {
  expect(() => checkCustomization(undefined, null)).not.toThrow();
  expect(() => checkCustomization("x", null)).toThrow(/not available/);
});
