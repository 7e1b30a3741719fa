import { describe, expect, test } from "vitest";
import {
  event,
  line,
  meta,
  OTHER,
  readLines,
  say,
  SESSION,
  tokens,
  total,
  TURN,
  TURN_OF_OTHER,
} from "./codex-records.ts";
import { readUsage } from "../../../../domain/sessions/import/codex/token-totals.ts";
import { sumTokens } from "./samples.ts";

describe("the tokens", () => {
  test("are the differences of the totals, and input is without cached tokens", () => {
    const { entries } = readLines(
      meta(),
      say("One"),
      total(tokens(100, 10, 40), tokens(100, 10, 40)),
      total(tokens(100, 10, 40), tokens(100, 10, 40)),
      say("Two"),
      total(tokens(250, 30, 140), tokens(150, 20, 100)),
    );
    expect(entries.map(({ content, usage }) => [content, usage])).toEqual([
      ["One", { input: 60, output: 10, cache_read: 40, cache_write: 0 }],
      ["Two", { input: 50, output: 20, cache_read: 100, cache_write: 0 }],
    ]);
  });

  test("of a response that is not recorded have an entry of their own", () => {
    const { entries } = readLines(meta(), total(tokens(100, 10), tokens(100, 10)), line("compacted", { message: "" }));
    expect(entries).toMatchObject([
      { id: "line-2", role: "system", usage: { input: 100, output: 10 } },
      { id: "line-3", role: "system", content: "Context compacted" },
    ]);
  });

  test("continue when the totals begin again", () => {
    const { entries } = readLines(
      meta(),
      say("One"),
      total(tokens(1000, 100), tokens(1000, 100)),
      total(tokens(0, 0), tokens(0, 0)),
      say("Two"),
      total(tokens(50, 5), tokens(50, 5)),
      say("Three"),
      total(tokens(20, 2), tokens(20, 2)),
    );
    expect(sumTokens(entries)).toMatchObject({ input: 1070, output: 107 });
  });

  test("go on after a further session_meta of the session, which Codex writes when a setting is changed", () => {
    for (const fields of [{}, { forked_from_id: OTHER }]) {
      const { entries } = readLines(
        meta(SESSION, fields),
        say("One"),
        total(tokens(100, 10), tokens(100, 10)),
        meta(SESSION, { ...fields, memory_mode: "disabled" }),
        say("Two"),
        total(tokens(130, 13), tokens(99, 99)),
      );
      expect(entries.map((entry) => entry.usage?.output)).toEqual([10, 3]);
    }
  });

  test("are counted once when the file has the usage of a response and then a total with it", () => {
    const usage = { thread_id: SESSION, response_id: "resp_1", usage: tokens(100, 10) };
    const { entries } = readLines(
      meta(),
      say("One"),
      total(tokens(30, 3), tokens(30, 3)),
      say("Two"),
      line("token_usage_record", usage),
      total(tokens(130, 13), tokens(100, 10)),
      line("token_usage_record", { ...usage, thread_id: OTHER }),
    );
    expect(entries.map((entry) => entry.usage?.output)).toEqual([3, 10]);
  });

  test("of a fork that begins with a copy are only its own", () => {
    const { entries, session } = readLines(
      meta(SESSION, { forked_from_id: OTHER }),
      meta(OTHER),
      event("task_started", { turn_id: TURN_OF_OTHER }),
      say("Copied"),
      total(tokens(1000, 100), tokens(1000, 100)),
      event("task_started", { turn_id: TURN }),
      total(tokens(1000, 100), tokens(1000, 100)),
      say("Own"),
      total(tokens(1060, 106), tokens(60, 6)),
    );
    expect(session.id).toBe(SESSION);
    expect(entries.map(({ content, usage }) => [content, usage?.output])).toEqual([
      ["Copied", undefined],
      ["Own", 6],
    ]);
  });

  test("of a fork of a version without ids of turns begin after the copy, which is written at once", () => {
    const { entries } = readLines(
      meta(),
      meta(OTHER),
      say("Copied"),
      total(tokens(1000, 100), tokens(1000, 100)),
      line("turn_context", { model: "gpt" }, "2026-11-20T09:00:05.000Z"),
      say("Own"),
      total(tokens(1060, 106), tokens(60, 6)),
    );
    expect(entries.map(({ usage }) => usage?.output)).toEqual([undefined, 6]);
  });

  test("of a fork without a copy begin with its first response, whatever the total is", () => {
    const { entries } = readLines(
      meta(SESSION, { forked_from_id: OTHER, history_base: { thread_id: OTHER } }),
      total(tokens(1000, 100), tokens(50, 5)),
      say("Own"),
      total(tokens(1060, 106), tokens(60, 6)),
    );
    expect(sumTokens(entries)).toMatchObject({ input: 60, output: 6 });
  });

  test("of a fork begin with its first response, whichever field names the other session", () => {
    for (const fields of [{ forked_from_id: OTHER }, { history_base: { thread_id: OTHER } }]) {
      const { entries } = readLines(meta(SESSION, fields), say("Own"), total(tokens(1060, 106), tokens(60, 6)));
      expect(entries.map(({ usage }) => usage?.output)).toEqual([6]);
    }
  });

  test("of a response can be as many as an entry can have", () => {
    expect(readLines(meta(), say("One"), total(tokens(1e9, 1), tokens(1e9, 1))).entries).toMatchObject([
      { usage: { input: 1e9, output: 1 } },
    ]);
  });

  test.each([tokens(-1, 5), tokens(2e9, 5), tokens(1e13, 5), { input_tokens: "many" }, null])(
    "%o as a total is skipped",
    (all) => {
      const { entries, skipped } = readLines(
        meta(),
        say("One"),
        event("token_count", { info: { total_token_usage: all } }),
        event("task_complete"),
      );
      expect(entries).toMatchObject([{ content: "One", usage: undefined }]);
      expect(skipped).toEqual({ usage: 1 });
    },
  );
});

describe("the usage of a response in the file", () => {
  const record = (usage: object | null, thread_id: string | undefined = SESSION, response_id?: string) =>
    line("token_usage_record", { thread_id, response_id, usage });

  test("is skipped if it is invalid, or of the thread from which the session was forked", () => {
    const { entries, skipped } = readLines(
      meta(SESSION, { forked_from_id: OTHER }),
      say("One"),
      record(tokens(-1, 5)),
      record(tokens(2e9, 5)),
      record(null),
      record(tokens(10, 1), OTHER),
      record(tokens(20, 2)),
    );
    expect(entries.map(({ usage }) => usage?.output)).toEqual([2]);
    expect(skipped).toEqual({ usage: 3, token_usage_record: 1 });
  });

  test.each([undefined, SESSION, "a-name-of-its-own"])("counts without totals when its thread is %s", (thread) => {
    const { entries } = readLines(meta(), say("One"), record(tokens(100, 20, 40), thread, "resp_1"));
    expect(entries).toMatchObject([{ content: "One", usage: { input: 60, output: 20, cache_read: 40 } }]);
  });

  test("counts once when the file has it twice, as after a compaction", () => {
    const { entries, skipped } = readLines(
      meta(),
      say("One"),
      record(tokens(100, 20), SESSION, "resp_1"),
      record(tokens(100, 20), SESSION, "resp_1"),
    );
    expect(sumTokens(entries)).toMatchObject({ input: 100, output: 20 });
    expect(skipped).toEqual({ token_usage_record: 1 });
  });

  test("counts once when the total of the thread is written before it", () => {
    const { entries } = readLines(
      meta(),
      say("One"),
      total(tokens(100, 20), tokens(100, 20)),
      record(tokens(100, 20), SESSION, "resp_1"),
      say("Two"),
      total(tokens(220, 45), tokens(120, 25)),
      record(tokens(120, 25), SESSION, "resp_2"),
      say("Three"),
      record(tokens(120, 25), SESSION, "resp_3"),
      total(tokens(340, 70), tokens(120, 25)),
    );
    expect(entries.map(({ content, usage }) => [content, usage?.output])).toEqual([
      ["One", 20],
      ["Two", 25],
      ["Three", 25],
    ]);
  });

  test("of a compaction counts, although the totals do not contain it", () => {
    const { entries } = readLines(
      meta(),
      say("One"),
      record(tokens(100, 20), SESSION, "resp_1"),
      total(tokens(100, 20), tokens(100, 20)),
      record(tokens(700, 30), SESSION, "resp_2"),
      line("compacted", { message: "", compaction_response_id: "resp_2" }),
      total(tokens(100, 20), tokens(100, 20)),
      say("Two"),
      record(tokens(50, 5), SESSION, "resp_3"),
      total(tokens(150, 25), tokens(50, 5)),
    );
    expect(sumTokens(entries)).toMatchObject({ input: 850, output: 55 });
  });

  test("of the history that a subagent inherits does not count", () => {
    for (const start of [3, "3"]) {
      const { entries, skipped } = readLines(
        { ...meta(SESSION, { parent_thread_id: OTHER, subagent_history_start_ordinal: start }), ordinal: 0 },
        { ...say("Inherited"), ordinal: 1 },
        { ...record(tokens(500, 50), "a-third-thread", "resp_1"), ordinal: 2 },
        { ...say("Own"), ordinal: 3 },
        { ...record(tokens(30, 3), SESSION, "resp_2"), ordinal: 4 },
      );
      expect(entries.map(({ content, usage }) => [content, usage?.output])).toEqual([
        ["Inherited", undefined],
        ["Own", 3],
      ]);
      expect(skipped).toEqual({ token_usage_record: 1 });
    }
  });

  test("of no tokens leaves the response without a usage", () => {
    const { entries } = readLines(meta(), say("One"), record(tokens(0, 0)), event("task_complete"));
    expect(entries).toMatchObject([{ content: "One", usage: undefined }]);
  });

  test("is that of the first entry of the response", () => {
    const { entries } = readLines(
      meta(),
      line("turn_context", { model: "gpt" }),
      say("One"),
      say("Two"),
      record(tokens(20, 2)),
      record(tokens(30, 3)),
    );
    expect(entries.map(({ content, usage, model, role }) => [content, usage?.output, model, role])).toEqual([
      ["One", 2, "gpt", "assistant"],
      ["Two", undefined, "gpt", "assistant"],
      ["[a request whose response is not recorded]", 3, undefined, "system"],
    ]);
  });
});

test("cached tokens are a part of the input, and never more than it", () => {
  const read = (input: number, cached?: number, written?: number) =>
    readUsage({
      input_tokens: input,
      cached_input_tokens: cached,
      cache_write_input_tokens: written,
      output_tokens: 7,
    });
  expect(read(100, 30, 20)).toEqual({ input: 50, output: 7, cache_read: 30, cache_write: 20 });
  expect(read(100, 90, 20)).toEqual({ input: 0, output: 7, cache_read: 90, cache_write: 10 });
  expect(read(100, 110, 20)).toEqual({ input: 0, output: 7, cache_read: 100, cache_write: 0 });
  expect(read(100)).toEqual({ input: 100, output: 7, cache_read: 0, cache_write: 0 });
});

test("a usage with a value that is not a number of tokens is invalid", () => {
  for (const name of ["input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"]) {
    expect([name, readUsage({ [name]: -1 })]).toEqual([name, null]);
    expect([name, readUsage({ [name]: 11 }, 10), readUsage({ [name]: 10 }, 10)]).toMatchObject([name, null, {}]);
  }
  for (const value of [undefined, null, "text", []]) expect(readUsage(value)).toBeNull();
});
