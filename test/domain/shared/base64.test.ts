import { expect, test } from "vitest";
import { decodeBase64 } from "../../../domain/shared/base64.ts";

test("base64 is decoded, also with line breaks", () => {
  expect(decodeBase64("aGVsbG8sIHdvcmxkPw==")?.toString()).toBe("hello, world?");
  expect(decodeBase64("aGVsbG8s\r\nIHdvcmxk\nPw==\n")?.toString()).toBe("hello, world?");
  expect([...(decodeBase64("+/8=") ?? [])]).toEqual([0xfb, 0xff]);
  expect(decodeBase64("")).toHaveLength(0);
});

test.each(["aGVsbG8", "aGVsbG9=", "-_8=", "aGVs bG8=", "aGVsbG8==", "hello!", "="])("%j is not base64", (text) => {
  expect(decodeBase64(text)).toBeNull();
});
