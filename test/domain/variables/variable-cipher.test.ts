import { expect, test } from "vitest";
import { VariableCipher } from "../../../domain/variables/variable-cipher.ts";

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
