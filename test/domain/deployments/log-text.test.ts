import { expect, test } from "vitest";
import { LogText } from "../../../domain/deployments/log-text.ts";
import { hazard, verifies } from "../../support/verifies.ts";

function textOf(...parts: string[]): LogText {
  const text = new LogText();
  for (const part of parts) text.append(part);
  return text;
}

/** Reads lines as a stream does, in steps of `limit` characters. */
function readAll(text: LogText, limit: number, start = 0): string[] {
  const lines: string[] = [];
  for (let position = start; ;) {
    const read = text.readLines(position, limit, true);
    if (read.length === 0) return lines;
    lines.push(...read.map((line) => line.text));
    position = read.at(-1)!.position;
  }
}

test("lines are read in steps of any size, and a last line without an end waits until the log is complete", () => {
  const text = textOf("one\n\ntwo\nth", "ree");
  for (const limit of [5, 6, 1000]) expect(readAll(text, limit)).toEqual(["one", "", "two", "three"]);
  expect(text.readLines(0, 100, false).map((line) => line.text)).toEqual(["one", "", "two"]);
  expect(text.readLines(9, 100, false)).toEqual([]);
  expect(text.readLines(1000, 100, true)).toEqual([]);
  expect(readAll(textOf("\n\na\n"), 100)).toEqual(["", "", "a"]);
});

test("a line that is longer than a step is read in pieces, which do not split a character", () => {
  expect(readAll(textOf("abc😀defg\nx\n"), 4)).toEqual(["abc", "😀de", "fg", "x"]);
});

test("lines are read across the middle of a log from which nothing was dropped", () => {
  const text = textOf("x".repeat(524_286), "\nmiddle\nend\n");
  expect(text.readLines(524_287, 100, false).map((line) => line.text)).toEqual(["middle", "end"]);
  expect(text.readLines(524_280, 100, false).map((line) => line.text)).toEqual(["xxxxxx", "middle", "end"]);
  expect(text.readLines(524_280, 10, false).map((line) => line.text)).toEqual(["xxxxxx"]);
});

verifies(hazard(56), "a reader that is slower than the log learns how many characters it has missed", () => {
  const line = `${"x".repeat(1023)}\n`;
  const stored = textOf(line.repeat(513), line.repeat(512), "end\n").toString();
  for (const text of [textOf(line.repeat(1025), "end\n"), LogText.parse(stored)]) {
    expect(text.toString()).toBe(stored);
    const lines = readAll(text, 16_384);
    expect(lines.length).toBe(512 + 1 + 512 + 1);
    expect(lines[512]).toBe("[service] 1028 characters left out here");
    expect(readAll(text, 16_384, 524_288 + 28)[0]).toBe("[service] 1000 characters left out here");
    expect(readAll(text, 16_384, 524_288 + 1028)).toEqual(lines.slice(513));
  }
});

test("a step that ends exactly where the log was cut loses no part of a line", () => {
  const text = textOf("a\n".repeat(262_143), "bc", "d".repeat(600_000));
  expect(readAll(text, 100, 524_188).slice(48, 51)).toEqual(["a", "bc", "[service] 75712 characters left out here"]);
});
