import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { appToken } from "../../../domain/apps/app-token.ts";
import { formatToken, readTokenPrefix } from "../../../domain/tokens/token-format.ts";

test("a token consists of its prefix, 43 base62 characters and a checksum of 6 characters", () => {
  for (const secret of [Buffer.alloc(32, 0), Buffer.alloc(32, 255), randomBytes(32)])
    expect(formatToken("svk", secret)).toMatch(/^svk_[0-9A-Za-z]{49}$/);
});

test("a token encodes every bit of its secret in base62, padded with zeros, and its checksum likewise", () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, at) => at + 1);
  const small = new Uint8Array(32).fill(255, 28);
  const tokens = [
    formatToken("svk", bytes),
    formatToken("sva", small),
    formatToken("svg", new Uint8Array(32).fill(255)),
  ];
  // Computed with a different implementation.
  expect(tokens).toEqual([
    "svk_0Eoh211G4c8wtVWM00my5rsNSFlKgaWqQ4mb8gdEqno3O8c4P",
    "sva_00000000000000000000000000000000000004gfFC33TqPxG",
    "svg_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp11cd3Uo",
  ]);
});

test("a token cannot be made of a secret that is too short or too long", () => {
  for (const length of [0, 31, 33]) expect(() => formatToken("svk", new Uint8Array(length))).toThrow(RangeError);
});

test("the prefix of a token can be read, and a token with one changed character is rejected", () => {
  const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(
      secrets,
      fc.nat({ max: 48 }),
      fc.constantFrom("0", "9", "A", "Z", "a", "z"),
      (secret, at, character) => {
        const token = formatToken("svp", secret);
        expect(readTokenPrefix(token)).toBe("svp");
        const changed = token.slice(0, at + 4) + character + token.slice(at + 5);
        expect(readTokenPrefix(changed)).toBe(changed === token ? "svp" : null);
      },
    ),
  );
});

test("a token with other text around it is rejected", () => {
  const token = formatToken("sva", randomBytes(32));
  for (const text of [
    "",
    " ",
    `${token} `,
    ` ${token}`,
    `${token}\n`,
    token.toUpperCase(),
    token.slice(1),
    `x${token}`,
  ])
    expect(readTokenPrefix(text)).toBeNull();
});

test("a token with an unknown prefix and a valid checksum is rejected", () => {
  expect(readTokenPrefix(formatToken("svx" as never, randomBytes(32)))).toBeNull();
});

test("an app token is always the same for one app, version and secret, and differs for any other", () => {
  const app = { id: "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e", tokenVersion: 1 };
  const tokens = [
    appToken("s", app),
    appToken("s", { ...app, tokenVersion: 2 }),
    appToken("t", app),
    appToken("s", { ...app, id: "1" }),
  ];
  expect(appToken("s", app)).toBe(tokens[0]);
  expect(tokens.map(readTokenPrefix)).toEqual(["sva", "sva", "sva", "sva"]);
  expect(new Set(tokens).size).toBe(4);
});
