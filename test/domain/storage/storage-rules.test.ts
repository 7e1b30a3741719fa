import { expect, test } from "vitest";
import { judgeStorage } from "../../../domain/storage/storage-rules.ts";

const MEBIBYTE = 1024 * 1024;
const BOUND = 1500 * MEBIBYTE;
const judge = (totalBytes: number, storageBytes = BOUND) => judgeStorage(totalBytes, { storageBytes }, "team");

test("an app is within its bound up to and including the bound", () => {
  for (const bytes of [0, BOUND - 1, BOUND]) expect(judge(bytes)).toEqual({ restriction: null, problem: null });
});

test("an app beyond its bound serves its owner only, and beyond twice its bound no requests", () => {
  for (const [bytes, servesOwner] of [
    [BOUND + 1, true],
    [2 * BOUND, true],
    [2 * BOUND + 1, false],
  ] as const) {
    const { restriction, problem } = judge(bytes);
    expect([bytes, restriction?.servesOwner, typeof problem]).toEqual([bytes, servesOwner, "string"]);
  }
});

test("the problem names the plan and its bound in MiB, and not what the app stores; clients see neither", () => {
  for (const bytes of [BOUND + 1, 2 * BOUND + 1]) {
    const { restriction, problem } = judge(bytes);
    expect(problem).toContain('1,500 MiB that the plan "team" allows');
    expect(judge(bytes + 1).problem).toBe(problem);
    expect(restriction?.message).toMatch(/^This app is stopped/);
    expect(restriction?.message).not.toMatch(/team|1,500/);
  }
  expect(judge(BOUND, 2 * MEBIBYTE - 1).problem).toContain("1 MiB");
});
