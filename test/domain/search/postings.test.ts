import fc from "fast-check";
import { expect, test } from "vitest";
import {
  blockOf,
  encodePosting,
  offsetOf,
  POSTING_BYTES,
  readBodyCount,
  readCounts,
  readCategory,
  readLength,
  readOffset,
  readRoundedLength,
  readTitleCount,
} from "../../../domain/search/postings.ts";

function encode(posting: Partial<Parameters<typeof encodePosting>[2]>): Uint8Array {
  const data = new Uint8Array(POSTING_BYTES);
  encodePosting(data, 0, { offset: 0, category: 0, titleCount: 0, bodyCount: 0, length: 0, ...posting });
  return data;
}

test("what is written at a place of the postings is read there, and the bytes around it stay", () => {
  const posting = fc.record({
    offset: fc.nat({ max: 4095 }),
    category: fc.nat({ max: 7 }),
    titleCount: fc.nat({ max: 7 }),
    bodyCount: fc.nat({ max: 31 }),
    length: fc.nat({ max: 1000 }),
  });
  fc.assert(
    fc.property(posting, fc.nat({ max: 3 }), (written, place) => {
      const data = new Uint8Array(4 * POSTING_BYTES).fill(0xaa);
      const at = place * POSTING_BYTES;
      encodePosting(data, at, written);
      const [low, high, counts, length] = data.subarray(at, at + POSTING_BYTES) as unknown as [
        number,
        number,
        number,
        number,
      ];
      const { length: writtenLength, ...others } = written;
      expect({
        offset: readOffset(low, high),
        category: readCategory(high),
        titleCount: readTitleCount(counts),
        bodyCount: readBodyCount(counts),
      }).toEqual(others);
      expect(Math.abs(readLength(length) + 1) / (writtenLength + 1)).toBeCloseTo(1, 1);
      expect([readCounts(data, at), readRoundedLength(data, at)]).toEqual([counts, length]);
      for (const index of [...data.keys()].filter((key) => key < at || key >= at + POSTING_BYTES))
        expect(data[index]).toBe(0xaa);
    }),
  );
});

test("higher counts than the bytes have room for are the highest ones", () => {
  const { 2: counts } = encode({ titleCount: 8, bodyCount: 32 });
  expect([readTitleCount(counts!), readBodyCount(counts!)]).toEqual([7, 31]);
});

test("a length is rounded to steps of 9 %, up to more than 3,000,000,000 words", () => {
  expect([0, 1, 3, 7].map((length) => readLength(encode({ length })[3]!))).toEqual([0, 1, 3, 7]);
  expect(encode({ length: 2 ** 40 })[3]).toBe(255);
  expect(readLength(255)).toBeGreaterThan(3e9);
});

test("index ids are in blocks of 4,096", () => {
  expect([0, 4095, 4096, 8191, 8192].map((id) => [blockOf(id), offsetOf(id)])).toEqual([
    [0, 0],
    [0, 4095],
    [1, 0],
    [1, 4095],
    [2, 0],
  ]);
  expect(blockOf(2 ** 31)).toBe(2 ** 19);
});
