import { expect, test } from "vitest";
import { VariableCipher } from "../../../domain/variables/variable-cipher.ts";
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

const cipher = new VariableCipher("a secret of 32 characters at least");
const context = { appId: "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e", name: "API_KEY", isSecret: true };

test.each(["", "a", "Zürich 🗝\nline two", "x".repeat(32 * 1024)])("a sealed value can be opened again", (value) => {
  const sealed = cipher.seal(value, context);
  expect(cipher.open(sealed, context)).toBe(value);
  expect(cipher.seal(value, context)).not.toBe(sealed);
});

test.each([[{ appId: "11111111-5f0b-4a57-9a3c-6a1f8b1c2d3e" }], [{ name: "API_KEY2" }], [{ isSecret: false }]])(
  "a sealed value cannot be opened for another app or name, or as a value that is not secret: %j",
  (other) => {
    expect(cipher.open(cipher.seal("value", context), { ...context, ...other })).toBeNull();
  },
);

test("a value that an earlier version of the service has sealed can be opened", () => {
  expect(cipher.open("AaKUygwlA8u6kTowck2SDVK/IMC9xeLwoEHqGRSrHeQHbEpN", context)).toBe("Zürich");
});

test("a sealed value cannot be opened with another secret", () => {
  expect(new VariableCipher("another secret of 32 characters").open(cipher.seal("value", context), context)).toBeNull();
});

test("a sealed value of which any byte changed, or that is cut, cannot be opened", () => {
  const sealed = Buffer.from(cipher.seal("value", context), "base64");
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect([at, cipher.open(changed.toString("base64"), context)]).toEqual([at, null]);
    expect([at, cipher.open(sealed.subarray(0, at).toString("base64"), context)]).toEqual([at, null]);
  }
});
