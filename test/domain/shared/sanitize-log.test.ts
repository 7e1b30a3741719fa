import { expect, test } from "vitest";
import { sanitizeLog } from "../../../domain/shared/sanitize-log.ts";
import { encodingsOf } from "../../../domain/shared/secret-masks.ts";
import { hazard, verifies } from "../../support/verifies.ts";

verifies(hazard(47), "a sanitized log has no control codes, no lone surrogates and no hidden text", () => {
  const printed = "\u001b]0;owned\u0007\u001b[31mred\u001b[0m a\u0000b \ud800 c\u202ed\u2066e\r\nnext\rover\u009b1m";
  const shown = sanitizeLog(printed, []);
  expect(shown).toBe("red ab \ufffd cde\nnext\nover");
  expect(shown.isWellFormed()).toBe(true);
});

verifies(hazard(48), "a sanitized log masks a secret in plain text, in base64 at every alignment, and in a URL", () => {
  const secret = "correct-horse-battery-staple-0123456789";
  const encoded = ["", "x", "xx"].map((before) => Buffer.from(`${before}${secret}yyy`).toString("base64"));
  const printed = [
    secret,
    ...encoded,
    `https://user:${secret}@git.example/a.git`,
    encodeURIComponent(`${secret}/`),
  ].join("\n");
  const shown = sanitizeLog(printed, encodingsOf(secret));
  expect(shown).not.toContain(secret);
  for (const form of encodingsOf(secret)) expect(shown).not.toContain(form);
  expect(shown.match(/\[masked\]/g)?.length).toBeGreaterThanOrEqual(6);
});

test("a secret of at least eight characters is masked in each of its encodings that is not too short", () => {
  expect(encodingsOf("1234567")).toEqual([]);
  expect(encodingsOf("12345678")).toEqual(["12345678", "12345678", "MTIzNDU2", "MjM0NTY3"]);
  const secret = "a secret?";
  const base64 = Buffer.from(secret).toString("base64");
  expect(encodingsOf(secret)).toEqual(expect.arrayContaining([secret, "a%20secret%3F", base64.slice(0, -4)]));
});

verifies(
  hazard(48),
  "a sanitized log masks tokens of the service and the user info of URLs, although no secret is given",
  () => {
    const token = `sva_${"a1B2".repeat(12)}x`;
    expect(sanitizeLog(`token ${token} https://ada:hunter2@host/x`, [])).toBe("token [masked] https://[masked]@host/x");
  },
);

test("a hostile log is sanitized in bounded time", () => {
  const hostile = `${"a".repeat(2000)}://`.repeat(200) + "sva_".repeat(50_000) + "@".repeat(50_000);
  expect(sanitizeLog(hostile, []).length).toBeGreaterThan(0);
});
