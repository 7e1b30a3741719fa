import { expect, test } from "vitest";
import { sanitizeLog } from "../../../domain/shared/sanitize-log.ts";
import { secretMasks } from "../../../domain/shared/secret-masks.ts";

const KEY = `-----BEGIN PRIVATE KEY-----\r\nMIIEvQIBADANBgkqhkiG9w0B\r\n}\r\n-----END PRIVATE KEY-----`;

test("a secret of several lines is masked as a whole, as JSON, and line by line", () => {
  const masks = secretMasks([KEY]);
  for (const printed of [KEY, JSON.stringify({ key: KEY }), KEY.replaceAll("\r\n", "\nlog: "), btoa(KEY)])
    expect(sanitizeLog(printed, masks)).not.toContain("MIIEvQIBADANBgkqhkiG9w0B");
  expect(sanitizeLog("{ a: 1 }", masks)).toBe("{ a: 1 }");
});

test("a secret that contains another one is masked as a whole", () => {
  expect(sanitizeLog("postgres-password-1", secretMasks(["password", "postgres-password-1"]))).toBe("[masked]");
});

test("a secret of less than eight characters is not masked", () => {
  expect(secretMasks(["1234567"])).toEqual([]);
});
