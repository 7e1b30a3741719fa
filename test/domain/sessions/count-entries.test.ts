import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { EntryTotals } from "../../../domain/sessions/count-entries.ts";
import { toRows } from "../../../domain/sessions/entry-rows.ts";
import type { NewEntry } from "../../../domain/sessions/transcript-entry.ts";

const session = { id: randomUUID(), server_id: randomUUID(), message_count: 5 };
const entry: NewEntry = { id: "e1", role: "user", content: "x" };

test("new entries are numbered after the stored ones, without known ids and repeated ones", () => {
  const entries = ["known", "a", "b", "a", "c"].map((id) => ({ ...entry, id }));
  const rows = toRows(session, entries, new Set(["known"]));
  expect(rows.map(({ seq, entry_id: id }) => [seq, id])).toEqual([
    [6, "a"],
    [7, "b"],
    [8, "c"],
  ]);
});

test("a row has all fields of its entry, and absent ones are null", () => {
  const created_at = "2026-03-01T00:00:00.000Z";
  const usage = { input: 1, output: 2, cache_read: 0, cache_write: 4 };
  const tool = { name: "pay", call_id: "c1", is_error: false };
  const [full, minimal] = toRows(
    session,
    [
      { id: "e1", role: "tool", content: "Paid", tool, model: "claude", usage, created_at },
      { ...entry, id: "e2" },
    ],
    new Set(),
  );
  const columns = ["seq", "entry_id", "role", "content"] as const;
  expect(columns.map((column) => [full![column], minimal![column]])).toEqual([
    [6, 7],
    ["e1", "e2"],
    ["tool", "user"],
    ["Paid", "x"],
  ]);
  expect(full).toMatchObject({
    session_id: session.id,
    server_id: session.server_id,
    tool_name: "pay",
    tool_call_id: "c1",
    tool_is_error: false,
    model: "claude",
    input_tokens: "1",
    output_tokens: "2",
    cache_read_tokens: "0",
    cache_write_tokens: "4",
    created_at: new Date(created_at),
  });
  expect(minimal).toMatchObject({
    session_id: session.id,
    server_id: session.server_id,
    tool_name: null,
    tool_call_id: null,
    tool_is_error: null,
    model: null,
    input_tokens: null,
    output_tokens: null,
    cache_read_tokens: null,
    cache_write_tokens: null,
    created_at: expect.any(Date),
  });
});

test("entries are added up by the months of their times, in the order of time", () => {
  const times = [
    "2026-03-31T23:59:59.999Z",
    "2026-01-01T00:00:00.000Z",
    "2026-03-01T00:00:00.000Z",
    "2026-05-01T00:00:00.000Z",
  ];
  const usage = { input: 1, output: 2, cache_read: 3, cache_write: 4 };
  const entries = times.map((time, index) => ({ ...entry, id: `e${index}`, usage, created_at: time }));
  const totals = new EntryTotals().add(toRows(session, entries, new Set()));
  totals.add(toRows(session, [{ ...entry, id: "without-usage", created_at: times[1]! }], new Set()));
  const of = (count: number, requests: number) => ({
    session_entries: count,
    input_tokens: requests,
    output_tokens: 2 * requests,
    cache_read_tokens: 3 * requests,
    cache_write_tokens: 4 * requests,
  });
  expect(totals.months).toEqual([
    ["2026-01", of(2, 1)],
    ["2026-03", of(2, 2)],
    ["2026-05", of(1, 1)],
  ]);
  expect([totals.count, totals.latest]).toEqual([5, new Date(times[3]!)]);
  expect(new EntryTotals().add(toRows(session, entries.slice(0, 3), new Set())).latest).toEqual(new Date(times[0]!));
});
