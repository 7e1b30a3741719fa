import { expect, test } from "vitest";
import { shortenOutput } from "../../../domain/execution/truncate-output.ts";

const lines = (what: string, count: number) => Array.from({ length: count }, (_, n) => `${what} ${n}\n`).join("");
const NOTE = /\n\[(\d+) characters left out here\. Print less: filter, count or sum up in the program\.\]\n/;

/** What an output has before and after our note, and how many characters the note says were left out. */
function parts(text: string): { beginning: string; end: string; leftOut: number } {
  const [, count] = NOTE.exec(text) ?? [];
  const [beginning = "", end = ""] = text.split(new RegExp(NOTE.source.replace("(\\d+)", "\\d+")));
  return { beginning, end, leftOut: Number(count) };
}

const size = (outputs: { stdout: string; stderr: string }) => JSON.stringify(outputs).length;

test("short outputs are returned as they are", () => {
  const outputs = { stdout: lines("out", 1000), stderr: lines("error", 1000) };
  expect(shortenOutput(outputs)).toEqual({ ...outputs, isCut: false });
});

test("of a long output the beginning and the end are shown, and how much is missing between", () => {
  const stdout = lines("out", 6000);
  const cut = shortenOutput({ stdout, stderr: "" });
  expect([cut.isCut, cut.stderr]).toEqual([true, ""]);
  expect(size(cut)).toBeLessThanOrEqual(24_000);
  const { beginning, end, leftOut } = parts(cut.stdout);
  expect([stdout.startsWith(beginning), stdout.endsWith(end)]).toEqual([true, true]);
  expect(leftOut).toBe(stdout.length - beginning.length - end.length);
  expect(beginning.length / end.length).toBeCloseTo(3, 1);
  expect(beginning.length + end.length).toBeGreaterThan(20_000);
});

test("the end of what went wrong survives, however much else there is", () => {
  const reason = "Stopped: the program was still running after 300 ms.\n";
  const cut = shortenOutput({ stdout: "o".repeat(60_000), stderr: `${lines("warning", 6000)}${reason}` });
  expect(size(cut)).toBeLessThanOrEqual(24_000);
  expect(cut.stderr).toMatch(/^warning 0\n/);
  expect(cut.stderr.endsWith(reason)).toBe(true);
  expect(parts(cut.stdout).leftOut).toBeGreaterThan(40_000);
});

test("an output that is short leaves its room to the other", () => {
  const stderr = lines("warning", 100);
  const cut = shortenOutput({ stdout: "o".repeat(60_000), stderr });
  expect(cut.stderr).toBe(stderr);
  expect(size(cut)).toBeGreaterThan(23_000);
});

test.each([
  ["quotation marks", '"'],
  ["control characters", "\u0001"],
  ["characters of two units", "😀"],
  ["line feeds", "\n"],
])("%s count as JSON writes them, and none is cut in two", (_what, character) => {
  const cut = shortenOutput({ stdout: character.repeat(30_000), stderr: character.repeat(30_000) });
  expect(size(cut)).toBeLessThanOrEqual(24_000);
  expect(size(cut)).toBeGreaterThan(22_000);
  for (const text of [cut.stdout, cut.stderr]) expect(text.replace(NOTE, "").replaceAll(character, "")).toBe("");
});
