import { expect, test } from "vitest";
import { truncateOutput } from "../../../domain/execution/truncate-output.ts";

const createLines = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${prefix} ${n}\n`).join("");
const NOTE = /\n\[(\d+) characters left out here\. Print less: filter, count or sum up in the program\.\]\n/;

/** Splits an output at the note, and reads how many characters the note says were left out. */
function splitAtNote(text: string): { beginning: string; end: string; leftOut: number } {
  const [, count] = NOTE.exec(text) ?? [];
  const [beginning = "", end = ""] = text.split(new RegExp(NOTE.source.replace("(\\d+)", "\\d+")));
  return { beginning, end, leftOut: Number(count) };
}

const getJsonLength = (outputs: { stdout: string; stderr: string }) => JSON.stringify(outputs).length;

test("short outputs are returned as they are", () => {
  const outputs = { stdout: createLines("out", 1000), stderr: createLines("error", 1000) };
  expect(truncateOutput(outputs)).toEqual({ ...outputs, isTruncated: false });
});

test("a long output shows its beginning and its end, and how much is missing between them", () => {
  const stdout = createLines("out", 6000);
  const truncated = truncateOutput({ stdout, stderr: "" });
  expect([truncated.isTruncated, truncated.stderr]).toEqual([true, ""]);
  expect(getJsonLength(truncated)).toBeLessThanOrEqual(24_000);
  const { beginning, end, leftOut } = splitAtNote(truncated.stdout);
  expect([stdout.startsWith(beginning), stdout.endsWith(end)]).toEqual([true, true]);
  expect(leftOut).toBe(stdout.length - beginning.length - end.length);
  expect(beginning.length / end.length).toBeCloseTo(3, 1);
  expect(beginning.length + end.length).toBeGreaterThan(20_000);
});

test("the end of stderr is kept, however long both outputs are", () => {
  const reason = "Stopped: the program was still running after 300 ms.\n";
  const truncated = truncateOutput({ stdout: "o".repeat(60_000), stderr: `${createLines("warning", 6000)}${reason}` });
  expect(getJsonLength(truncated)).toBeLessThanOrEqual(24_000);
  expect(truncated.stderr).toMatch(/^warning 0\n/);
  expect(truncated.stderr.endsWith(reason)).toBe(true);
  expect(splitAtNote(truncated.stdout).leftOut).toBeGreaterThan(40_000);
});

test("a short output leaves its room to the other one", () => {
  const stderr = createLines("warning", 100);
  const truncated = truncateOutput({ stdout: "o".repeat(60_000), stderr });
  expect(truncated.stderr).toBe(stderr);
  expect(getJsonLength(truncated)).toBeGreaterThan(23_000);
});

test("outputs of exactly the size of a response are not truncated, and one character more is", () => {
  const [half, more] = ["x".repeat(11_850), "y".repeat(11_851)];
  expect(truncateOutput({ stdout: half, stderr: half }).isTruncated).toBe(false);
  expect(truncateOutput({ stdout: half, stderr: more }).isTruncated).toBe(true);
  expect(truncateOutput({ stdout: half, stderr: "y".repeat(60_000) }).stdout).toBe(half);
});

test("no character of two units is divided at the beginning of the end", () => {
  for (const last of ["", "x"]) {
    const { stdout } = truncateOutput({ stdout: `${"😀".repeat(30_000)}${last}`, stderr: "" });
    expect(splitAtNote(stdout).end).toMatch(new RegExp(`^(?:😀)+${last}$`, "u"));
  }
});

test.each([
  ["quotation marks", '"'],
  ["backslashes", "\\"],
  ["the last control character", "\u001f"],
  ["control characters", "\u0001"],
  ["characters of two units", "😀"],
  ["line feeds", "\n"],
])("%s count by their length in JSON, and none is divided", (_description, character) => {
  const truncated = truncateOutput({ stdout: character.repeat(30_000), stderr: character.repeat(30_000) });
  expect(getJsonLength(truncated)).toBeLessThanOrEqual(24_000);
  expect(getJsonLength(truncated)).toBeGreaterThan(22_000);
  for (const text of [truncated.stdout, truncated.stderr])
    expect(text.replace(NOTE, "").replaceAll(character, "")).toBe("");
});
