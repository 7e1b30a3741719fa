import { expect, test } from "vitest";
import { ValueCipher } from "../../../domain/shared/value-cipher.ts";

const SECRET = "a secret of 32 characters at least";
const cipher = new ValueCipher(SECRET, "app-variables");
const context = ["0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e", "API_KEY", true];

test.each(["", "a", "Zürich 🗝\nline two", "x".repeat(32 * 1024)])("a sealed value can be opened again", (value) => {
  const sealed = cipher.seal(value, context);
  expect(cipher.open(sealed, context)).toBe(value);
  expect(cipher.seal(value, context)).not.toBe(sealed);
});

test("a value that an earlier version of the service has sealed can be opened", () => {
  expect(cipher.open("AaKUygwlA8u6kTowck2SDVK/IMC9xeLwoEHqGRSrHeQHbEpN", context)).toBe("Zürich");
});

test("a sealed value cannot be opened in another context, with another secret, or for another purpose", () => {
  const sealed = cipher.seal("value", context);
  expect(cipher.open(sealed, context.slice(0, 2))).toBeNull();
  expect(cipher.open(sealed, [...context, ""])).toBeNull();
  expect(new ValueCipher("another secret of 32 characters", "app-variables").open(sealed, context)).toBeNull();
  expect(new ValueCipher(SECRET, "agent-servers").open(sealed, context)).toBeNull();
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
