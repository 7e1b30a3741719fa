import { expect, test } from "vitest";
import { checkName, checkTotal, checkValue, VARIABLE_LIMITS } from "../../../domain/variables/variable-rules.ts";

const INVALID = expect.objectContaining({ code: "invalid" });
const { count, nameLength, valueBytes, totalBytes } = VARIABLE_LIMITS;

test("a name has upper-case letters, digits and underscores, and up to 128 characters", () => {
  for (const name of ["A", "Z9_", "API_KEY", "A".repeat(nameLength)]) expect(() => checkName(name)).not.toThrow();
  for (const name of ["", "a", "Aa", "_A", "9A", "A-B", "A\n", "\nA", "Ä", "A".repeat(nameLength + 1)])
    expect(() => checkName(name)).toThrow(INVALID);
});

test("names that the platform sets are reserved, and names that only contain them are not", () => {
  const reserved = ["CF_PAGES", "CI", "FORCE_COLOR", "HOME", "HTTPS_PROXY", "HTTP_PROXY", "LANG"];
  reserved.push("NODE_COMPILE_CACHE", "NO_COLOR", "NO_PROXY", "NO_UPDATE_NOTIFIER", "PATH", "PWD", "SHELL", "TMPDIR");
  reserved.push("TZ", "USER", "WORKERS_CI");
  for (const name of reserved) {
    expect(() => checkName(name)).toThrow(INVALID);
    for (const other of [`${name}_`, `A${name}`]) expect(() => checkName(other)).not.toThrow();
  }
  const prefixes = ["COREPACK_", "LD_", "MINIFLARE_", "NPM_CONFIG_", "SERVICE_", "TOOLCHAIN_", "WRANGLER_"];
  for (const prefix of prefixes) {
    expect(() => checkName(`${prefix}A`)).toThrow(INVALID);
    for (const other of [`A_${prefix}`, prefix.slice(0, -1)]) expect(() => checkName(other)).not.toThrow();
  }
});

test("a value is text of up to 32 KiB in UTF-8", () => {
  for (const value of ["", "\n\t\u0001", "x".repeat(valueBytes), "é".repeat(valueBytes / 2)])
    expect(() => checkValue(value)).not.toThrow();
  for (const value of ["a\0", "\ud800", "x".repeat(valueBytes + 1), "é".repeat(valueBytes / 2 + 1)])
    expect(() => checkValue(value)).toThrow(INVALID);
});

test("an app has up to 100 variables and 256 KiB of names and values", () => {
  expect(() => checkTotal([])).not.toThrow();
  expect(() => checkTotal(Array<number>(count).fill(1))).not.toThrow();
  expect(() => checkTotal(Array<number>(count + 1).fill(1))).toThrow(INVALID);
  expect(() => checkTotal([1, totalBytes - 1])).not.toThrow();
  expect(() => checkTotal([1, totalBytes])).toThrow(INVALID);
});
