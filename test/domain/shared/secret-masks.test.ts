import { expect, test } from "vitest";
import { sanitizeLog } from "../../../domain/shared/sanitize-log.ts";
import { secretMasks } from "../../../domain/shared/secret-masks.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const KEY = `-----BEGIN PRIVATE KEY-----\r\nMIIEvQIBADANBgkqhkiG9w0B\r\n}\r\n-----END PRIVATE KEY-----`;

test("a secret of several lines is masked as a whole, as JSON, and line by line", () => {
  const masks = secretMasks([KEY]);
  for (const printed of [KEY, JSON.stringify({ key: KEY }), KEY.replaceAll("\r\n", "\nlog: "), btoa(KEY)])
    expect(sanitizeLog(printed, masks)).not.toContain("MIIEvQIBADANBgkqhkiG9w0B");
  expect(sanitizeLog("{ a: 1 }", masks)).toBe("{ a: 1 }");
});

test("a secret with quotes is masked in JSON", () => {
  const secret = 'say "open" to the door';
  expect(sanitizeLog(JSON.stringify({ secret }), secretMasks([secret]))).toBe('{"secret":"[masked]"}');
});

test("of too many lines, those of the secrets with the fewest are masked", () => {
  const linesOf = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${name} line number ${index} of the secret`);
  const [long, short, middle] = [linesOf("long", 450), linesOf("short", 100), linesOf("middle", 300)];
  const masks = secretMasks([long, short, middle].map((lines) => lines.join("\n")));
  for (const line of [...short, ...middle]) expect(masks).toContain(line);
  expect(long.filter((line) => masks.includes(line))).toHaveLength(100);
});

test("a secret that contains another one is masked as a whole", () => {
  expect(sanitizeLog("postgres-password-1", secretMasks(["password", "postgres-password-1"]))).toBe("[masked]");
});

test("a secret of less than eight characters is not masked", () => {
  expect(secretMasks(["1234567"])).toEqual([]);
});

test("a secret that contains a token, the user info of a URL or control characters is masked as a whole", () => {
  const secrets = [
    "https://ada@hooks.example/T000/B000/notification-key",
    `sva_${"a1B2".repeat(8)}:rest-of-the-secret`,
    "escape\u001b[31m-and-\u0000zero\u200e-and\rreturn",
  ];
  for (const secret of secrets) expect(sanitizeLog(`= ${secret} =`, secretMasks([secret]))).toBe("= [masked] =");
});

verifies(hazard(56), "the masks of the largest secrets are few enough for a log without end", () => {
  const secrets = Array.from({ length: 8 }, (_, secret) =>
    Array.from({ length: 1900 }, (_line, index) => `line ${secret * 10_000 + index}`.padEnd(16, "x")).join("\n"),
  );
  const masks = secretMasks(secrets);
  expect(masks.length).toBeLessThan(1000);
  for (const secret of secrets) expect(sanitizeLog(secret, masks)).toBe("[masked]");
  const chain = secrets[0]!.split("\n").slice(0, 200).join("\n");
  for (const line of chain.split("\n")) expect(sanitizeLog(line, secretMasks([chain]))).toBe("[masked]");
});
