import { describe, expect, test } from "vitest";
import { CodexReader } from "../../../../domain/sessions/import/codex/codex-reader.ts";
import { readAll, sumTokens, toRecords } from "./samples.ts";

/** UUIDs of version 7 in the order of their times. */
const [OTHER, TURN_OF_OTHER, SESSION, TURN] = [1, 2, 3, 4].map((time) => `01a204d4-0000-7000-8000-00000000000${time}`);

function line(type: string, payload: object, timestamp = "2026-11-20T09:00:00.000Z"): object {
  return { timestamp, type, payload };
}

function meta(id = SESSION, fields: object = {}): object {
  return line("session_meta", { id, cli_version: "0.104.0", ...fields });
}

function say(text: string, role = "assistant"): object {
  const type = role === "assistant" ? "output_text" : "input_text";
  return line("response_item", { type: "message", role, content: [{ type, text }] });
}

function item(payload: object): object {
  return line("response_item", payload);
}

function event(type: string, fields: object = {}): object {
  return line("event_msg", { type, ...fields });
}

function tokens(input: number, output: number, cached = 0) {
  return { input_tokens: input, cached_input_tokens: cached, output_tokens: output, total_tokens: input + output };
}

function total(all: object, last: object): object {
  return event("token_count", { info: { total_token_usage: all, last_token_usage: last } });
}

function readLines(...lines: object[]) {
  const reader = new CodexReader();
  const entries = readAll(reader, toRecords(lines));
  return { entries, skipped: reader.skipped(), session: reader.session() };
}

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

describe("the last response of a file", () => {
  test("is left to a longer version of the file while its tokens may follow", () => {
    const start = [meta(), say("One"), total(tokens(10, 1), tokens(10, 1)), say("Two")];
    expect(readLines(...start).entries.map(({ content }) => content)).toEqual(["One"]);
    const { entries } = readLines(...start, total(tokens(20, 2), tokens(10, 1)));
    expect(entries.map(({ content, usage }) => [content, usage?.output])).toEqual([
      ["One", 1],
      ["Two", 1],
    ]);
  });

  test.each(["turn_aborted", "task_complete"])("is complete with %s", (type) => {
    const { entries } = readLines(
      meta(),
      event("token_count", { info: null }),
      say("One"),
      event(type, { reason: "interrupted" }),
    );
    expect(entries[0]).toMatchObject({ content: "One", usage: undefined });
  });

  test("is complete in the file of a version that records no tokens", () => {
    expect(readLines(meta(), say("One")).entries).toMatchObject([{ content: "One" }]);
  });

  test("is not held in memory without a bound", () => {
    const calls = Array.from({ length: 1200 }, (_, at) => say(`Text ${at}`));
    expect(readLines(meta(), event("token_count"), ...calls).entries).toHaveLength(1000);
  });
});

describe("the entries", () => {
  test("show calls of all kinds with the names of their tools in the results", () => {
    const { entries } = readLines(
      meta(),
      line("turn_context", { model: "gpt-5" }),
      item({ type: "function_call", name: "list", namespace: "mcp__service__", call_id: "c1", arguments: "{}" }),
      item({
        type: "function_call_output",
        call_id: "c1",
        output: [{ type: "input_text", text: "Two apps" }, { type: "input_image" }],
      }),
      item({ type: "custom_tool_call", name: "apply_patch", call_id: "c2", input: "*** Begin Patch" }),
      item({ type: "custom_tool_call_output", call_id: "c2", output: '{"output":"done","metadata":{"exit_code":1}}' }),
      item({ type: "local_shell_call", call_id: "c3", action: { type: "exec", command: ["ls"] } }),
      item({ type: "function_call_output", call_id: "c3", output: { content: "no", success: false } }),
      item({ type: "web_search_call", id: "ws_1", action: { type: "search", query: "tea" } }),
      item({
        type: "function_call_output",
        call_id: "never-called",
        output: "Exit code: 0\nOutput:\nProcess exited with code 3\n",
      }),
    );
    expect(entries.map(({ role, content, tool, model }) => [role, content, tool?.name, tool?.is_error, model])).toEqual(
      [
        ["assistant", "{}", "mcp__service__list", undefined, "gpt-5"],
        ["tool", "Two apps\n[input_image]", "mcp__service__list", undefined, undefined],
        ["assistant", "*** Begin Patch", "apply_patch", undefined, "gpt-5"],
        ["tool", '{"output":"done","metadata":{"exit_code":1}}', "apply_patch", true, undefined],
        ["assistant", '{"type":"exec","command":["ls"]}', "local_shell", undefined, "gpt-5"],
        ["tool", "no", "local_shell", true, undefined],
        ["assistant", '{"type":"search","query":"tea"}', "web_search", undefined, "gpt-5"],
        ["tool", "Exit code: 0\nOutput:\nProcess exited with code 3\n", "unknown", false, undefined],
      ],
    );
  });

  test("leave out what Codex repeats at each start, and the events that repeat messages", () => {
    const harness = [{ provenance: { type: "harness" } }];
    const context = { type: "message", role: "user", content: [{ type: "input_text", text: "The date" }] };
    const { entries, skipped, session } = readLines(
      meta(),
      say("Rules", "developer"),
      say("<environment_context>\n</environment_context>", "user"),
      say("# AGENTS.md instructions for /home/user", "user"),
      item({ ...context, internal_chat_message_metadata_passthrough: { content_item_metadata: harness } }),
      say("Count the lines.", "user"),
      event("user_message", { message: "Count the lines." }),
      item({ type: "reasoning", summary: [], encrypted_content: "gAAA" }),
      item({ type: "reasoning", summary: [{ type: "summary_text", text: "I count." }] }),
      event("agent_reasoning", { text: "I count." }),
      say("Three."),
      event("agent_message", { message: "Three." }),
      event("task_complete"),
      line("world_state", {}),
    );
    expect(entries.map(({ content }) => content)).toEqual(["Count the lines.", "[thinking]\nI count.", "Three."]);
    expect(session.title).toBe("Count the lines.");
    expect(skipped).toEqual({
      "event_msg/agent_message": 1,
      "event_msg/agent_reasoning": 1,
      "event_msg/user_message": 1,
      "response_item/message/developer": 1,
      "response_item/message/user": 3,
      "response_item/reasoning": 1,
      world_state: 1,
    });
  });

  test("show errors and interruptions", () => {
    const { entries } = readLines(
      meta(),
      event("error", { message: "No quota" }),
      event("task_complete", { error: { message: "Bad request" } }),
      event("turn_aborted", { reason: "interrupted" }),
    );
    expect(entries.map(({ role, content }) => [role, content])).toEqual([
      ["system", "Error: No quota"],
      ["system", "Error: Bad request"],
      ["system", "Turn aborted: interrupted"],
    ]);
  });

  test("are left out for records of unknown kinds, which are counted", () => {
    const { entries, skipped, session } = readLines(
      {},
      { type: "session_meta" },
      line("invented", {}),
      item({ type: "invented" }),
    );
    expect(entries).toEqual([]);
    expect(session).toEqual({ id: null, title: null });
    expect(skipped).toEqual({ invented: 1, other: 1, "response_item/invented": 1, session_meta: 1 });
  });
});
