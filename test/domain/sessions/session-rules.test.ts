import { describe, expect, test } from "vitest";
import { checkEntryCount, checkOpen } from "../../../domain/sessions/append-entries.ts";
import {
  checkClientId,
  checkEntries,
  checkTime,
  checkTitle,
  isToolName,
  SESSION_LIMITS,
} from "../../../domain/sessions/session-rules.ts";
import type { NewEntry } from "../../../domain/sessions/transcript-entry.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";

const entry: NewEntry = { id: "e1", role: "assistant", content: "x" };

/** Returns the message of the error; `null` when nothing is wrong. */
function errorOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "invalid") throw error;
    return error.message;
  }
}

const entryError = (fields: Partial<NewEntry>) => errorOf(() => checkEntries([{ ...entry, ...fields }]));

test("a title is one line of at most 200 characters", () => {
  expect(errorOf(() => checkTitle("x".repeat(200)))).toBeNull();
  for (const title of ["", " a", "a\nb", "x".repeat(201)])
    expect(errorOf(() => checkTitle(title))).toMatch(/^title: must be one line of 1 to 200 characters/);
});

test("an id of a client has 1 to 128 visible ASCII characters", () => {
  for (const id of ["!", "~", "x".repeat(128)]) expect(errorOf(() => checkClientId("id", id))).toBeNull();
  for (const id of ["", "a b", " a", "a ", "a\n", "é", "a\u007f", "x".repeat(129)])
    expect(errorOf(() => checkClientId("id", id))).toMatch(/^id: must have 1 to 128 visible ASCII characters/);
});

test("the name of a tool is one line of at most 128 characters", () => {
  const names = ["a", "two words", "x".repeat(128), "", "a\nb", "x".repeat(129)];
  expect(names.map(isToolName)).toEqual([true, true, true, false, false, false]);
});

test("a time is between 1970 and ten minutes after now", () => {
  expect(checkTime("time", "1970-01-01T00:00:00Z")).toEqual(new Date(0));
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  expect(checkTime("time", inMinutes(9)).getTime()).toBeGreaterThan(Date.now());
  for (const time of ["1969-12-31T23:59:59.999Z", inMinutes(11), "tomorrow", ""])
    expect(errorOf(() => checkTime("time", time))).toBe("time: must be a time between 1970 and now.");
});

describe("entries", () => {
  test("are between 1 and 1,000", () => {
    const entries = Array.from({ length: 1001 }, (_, index) => ({ ...entry, id: `e${index}` }));
    expect(errorOf(() => checkEntries(entries.slice(0, 1000)))).toBeNull();
    for (const count of [0, 1001])
      expect(errorOf(() => checkEntries(entries.slice(0, count)))).toMatch(/^entries: must have 1 to 1000 entries/);
  });

  test("are rejected with the position of the first one that is not allowed", () => {
    expect(errorOf(() => checkEntries([entry, { ...entry, id: "" }]))).toMatch(/^entries\.1\.id: /);
  });

  test("can have at most 262,144 bytes of content", () => {
    for (const content of ["x".repeat(262_144), "é".repeat(131_072), "€".repeat(87_381)])
      expect(entryError({ content })).toBeNull();
    expect(entryError({ content: "x".repeat(262_145) })).toMatch(/^entries\.0\.content: has 262145 bytes/);
    expect(entryError({ content: "€".repeat(87_382) })).toMatch(/^entries\.0\.content: has 262146 bytes/);
    expect(entryError({ content: "a\0" })).toMatch(/^entries\.0\.content: /);
  });

  test("have a tool only as a call or a result", () => {
    const tool = { name: "pay", call_id: "c1", is_error: false };
    for (const role of ["assistant", "tool"] as const) expect(entryError({ role, tool })).toBeNull();
    for (const role of ["user", "system"] as const)
      expect(entryError({ role, tool })).toMatch(/^entries\.0\.tool: requires the role/);
    expect(entryError({ tool: { name: "pay" } })).toBeNull();
    expect(entryError({ tool: { ...tool, name: "a\nb" } })).toMatch(/^entries\.0\.tool\.name: must be one line/);
    expect(entryError({ tool: { ...tool, call_id: "" } })).toMatch(/^entries\.0\.tool\.call_id: /);
  });

  test("have a model, a usage and a time that are allowed", () => {
    const usage = { input: 0, output: 0, cache_read: 0, cache_write: 1_000_000_000 };
    expect(entryError({ model: "claude", usage, created_at: "2026-01-01T00:00:00Z" })).toBeNull();
    expect(entryError({ model: "a b" })).toMatch(/^entries\.0\.model: /);
    expect(entryError({ created_at: "x" })).toMatch(/^entries\.0\.created_at: /);
    for (const key of ["input", "output", "cache_read", "cache_write"])
      for (const value of [-1, 0.5, 1_000_000_001])
        expect(entryError({ usage: { ...usage, [key]: value } })).toMatch(
          new RegExp(`^entries\\.0\\.usage\\.${key}: must be an integer from 0 to 1000000000`),
        );
  });
});

test("a session has at most 1,000,000 entries, and none are added once it is closed", () => {
  checkEntryCount(SESSION_LIMITS.entriesPerSession);
  expect(() => checkEntryCount(1_000_001)).toThrow(expect.objectContaining({ code: "conflict" }));
  checkOpen({ closed_at: null });
  expect(() => checkOpen({ closed_at: new Date(0) })).toThrow(expect.objectContaining({ code: "conflict" }));
});
