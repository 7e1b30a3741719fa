import { expect, test } from "vitest";
import { CopiedHistory } from "../../../../domain/sessions/import/codex/copied-history.ts";
import { OTHER, SESSION, TURN, TURN_OF_OTHER } from "./codex-records.ts";

const START = Date.parse("2026-11-20T09:00:00Z");

/** Returns whether each record is a copy. The milliseconds are after the start of the session. */
function read(...records: [type: string, payload: object, ms?: number][]): boolean[] {
  const history = new CopiedHistory();
  return records.map(([type, payload, ms = 0]) => {
    history.read({ type, timestamp: new Date(START + ms).toISOString() }, payload as Record<string, unknown>);
    return history.isCopying;
  });
}

test("a copy begins with the session_meta of another session", () => {
  expect(
    read(["session_meta", { id: SESSION }], ["session_meta", { id: SESSION }], ["session_meta", { id: OTHER }]),
  ).toEqual([false, false, true]);
  expect(read(["session_meta", { id: SESSION }], ["session_meta", { id: "not an id" }])).toEqual([false, false]);
});

test("the session is that of the first session_meta with an id", () => {
  const history = new CopiedHistory();
  const ids = [];
  for (const [type, id] of [
    ["turn_context", TURN],
    ["session_meta", 7],
    ["session_meta", SESSION],
    ["session_meta", OTHER],
  ]) {
    history.read({ type, timestamp: "2026-11-20T09:00:00Z" }, { id });
    ids.push(history.sessionId);
  }
  expect(ids).toEqual([null, null, SESSION, SESSION]);
});

test("a copy ends with the first turn that began after the session", () => {
  expect(
    read(
      ["session_meta", { id: SESSION }],
      ["session_meta", { id: OTHER }],
      ["event_msg", { turn_id: TURN_OF_OTHER }],
      ["response_item", {}, 60_000],
      ["event_msg", { turn_id: TURN_OF_OTHER }, 60_000],
      ["event_msg", { turn_id: TURN }],
      ["event_msg", { turn_id: TURN_OF_OTHER }],
    ),
  ).toEqual([false, true, true, true, true, false, false]);
});

test("a copy without ids of turns ends with the first record that was written more than a second later", () => {
  const copy: [string, object][] = [
    ["session_meta", { id: SESSION }],
    ["session_meta", { id: OTHER }],
  ];
  expect(read(...copy, ["response_item", {}, 1000], ["response_item", {}, 1001], ["response_item", {}])).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
});
