import { expect, test } from "vitest";
import { readLines } from "../../../../domain/sessions/import/read-lines.ts";

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const read = (text: string, { chunk, max }: { chunk: number; max: number }) =>
  Array.fromAsync(readLines(chunksOf(Buffer.from(text), chunk), max));

test("a line of the largest size is kept, and a longer one is not, wherever chunks end", async () => {
  for (const chunk of [1, 3, 10, 11, 12, 100]) {
    const lines = await read(`${"a".repeat(10)}\n${"b".repeat(11)}\n\nc\n`, { chunk, max: 10 });
    expect(lines).toEqual([
      { number: 1, text: "a".repeat(10), isComplete: true },
      { number: 2, text: null, isComplete: true },
      { number: 3, text: "", isComplete: true },
      { number: 4, text: "c", isComplete: true },
    ]);
  }
});

test("lines of many chunks are read whole, also after shorter and longer ones", async () => {
  const sizes = [70_000, 10, 300_000, 1, 65_536, 131_072, 131_073, 500_000];
  const texts = sizes.map((size, index) => String(index).repeat(size));
  for (const chunk of [1000, 64 * 1024]) {
    const lines = await read(texts.join("\n"), { chunk, max: 500_000 });
    expect(lines.map(({ text }) => text)).toEqual(texts);
    expect(lines.map(({ isComplete }) => isComplete)).toEqual([...sizes.slice(1).map(() => true), false]);
  }
});

test("a file without bytes has no lines", async () => {
  expect(await read("", { chunk: 1, max: 10 })).toEqual([]);
});
