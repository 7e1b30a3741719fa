import { expect, test } from "vitest";
import { isUuid } from "../../../domain/shared/ids.ts";
import { toIsoTimestamp } from "../../../domain/shared/iso-timestamp.ts";
import { isRecord, parseJson, resolvePointer } from "../../../domain/shared/json.ts";
import { decodeCursor, encodeCursor } from "../../../domain/shared/keyset-cursor.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";

const ID = "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e";

test("a UUID has 32 hexadecimal digits in five groups", () => {
  for (const id of [ID, ID.toUpperCase()]) expect([id, isUuid(id)]).toEqual([id, true]);
  const others = ["", ` ${ID}`, `${ID}0`, ID.slice(1), ID.replaceAll("-", ""), ID.replace("0", "g"), 7, null, [ID]];
  for (const other of others) expect([other, isUuid(other)]).toEqual([other, false]);
});

test("a timestamp of PostgreSQL or a date becomes RFC 3339 in UTC with milliseconds", () => {
  for (const [value, expected] of [
    ["2026-11-20 09:30:00.123+00", "2026-11-20T09:30:00.123Z"],
    ["2026-11-20 09:30:00+00", "2026-11-20T09:30:00.000Z"],
    ["2026-11-20 09:30:00.12+00", "2026-11-20T09:30:00.120Z"],
    ["2026-11-20 09:30:00.123+02", "2026-11-20T07:30:00.123Z"],
    ["2026-11-20 09:30:00.123456+00", "2026-11-20T09:30:00.123Z"],
    [new Date(7), "1970-01-01T00:00:00.007Z"],
  ] as const)
    expect([value, toIsoTimestamp(value)]).toEqual([value, expected]);
});

test("a record is an object that is not an array", () => {
  for (const value of [{}, { a: 1 }]) expect([value, isRecord(value)]).toEqual([value, true]);
  for (const value of [null, undefined, [], "{}", 1, () => 1]) expect([value, isRecord(value)]).toEqual([value, false]);
});

test("a text that is not JSON is undefined", () => {
  expect([parseJson('{"a":[1]}'), parseJson("null"), parseJson("{"), parseJson("")]).toEqual([
    { a: [1] },
    null,
    undefined,
    undefined,
  ]);
});

test("a JSON pointer leads to a member of the document, else nowhere", () => {
  const document = { a: { "b/c": [10, { "~1": true }], "": null, "d e": 1 }, text: "abc", null: 1, undefined: 1 };
  for (const [pointer, expected] of [
    ["#", document],
    ["#/a/b~1c/0", 10],
    ["#/a/b~1c/1/~01", true],
    ["#/a/", null],
    ["#/a/d%20e", 1],
    ["#/text", "abc"],
    ["#/text/length", undefined],
    ["#/a//x", undefined],
    ["#/constructor", undefined],
    ["#/a/%", undefined],
    ["#/%", undefined],
    ["/a", undefined],
    ["#a", undefined],
    ["x#/a", undefined],
    ["", undefined],
  ] as const)
    expect([pointer, resolvePointer(document, pointer)]).toEqual([pointer, expected]);
});

test("a cursor names the position that it was made of, and any other text is invalid", () => {
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  const created_at = "2026-11-20T09:30:00.123Z";
  expect(decodeCursor(encodeCursor({ created_at, id: ID }))).toEqual({ createdAt: created_at, id: ID });
  for (const text of [
    "",
    created_at,
    `${created_at} ${ID}0`,
    ` ${created_at} ${ID}`,
    `${created_at} ${ID.toUpperCase()}`,
    `${created_at.replace("Z", "+")} ${ID}`,
    `2026-02-30T09:30:00.123Z ${ID}`,
    `2026-13-01T09:30:00.123Z ${ID}`,
    `0000-01-01T09:30:00.123Z ${ID}`,
  ])
    expect(() => decodeCursor(encode(text))).toThrow(expect.objectContaining({ code: "invalid" }));
  expect(decodeCursor(encode(`0001-01-01T00:00:00.000Z ${ID}`)).id).toBe(ID);
});

test("the SHA-256 of a text is in hexadecimal digits", () => {
  expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
