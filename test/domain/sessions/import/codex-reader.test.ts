import { describe, expect, test } from "vitest";
import { event, item, line, meta, readLines, say, tokens, total } from "./codex-records.ts";

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

  test("is left to a longer version of the file if records are numbered, because this version records tokens", () => {
    expect(readLines(meta(), { ...say("One"), ordinal: 1 }).entries).toEqual([]);
  });

  test.each([say("Next", "user"), line("compacted", { message: "Summary" })])("is complete before %o", (next) => {
    const { entries } = readLines(meta(), event("token_count", { info: null }), say("One"), next);
    expect(entries).toMatchObject([{ content: "One" }, { id: "line-4" }]);
  });

  test("does not include the result of a call of an earlier response", () => {
    const output = { type: "function_call_output", call_id: "c1", output: "Two" };
    const { entries } = readLines(meta(), event("token_count"), item(output), say("One"), item(output));
    expect(entries).toMatchObject([{ id: "line-3", role: "tool" }]);
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

  test("describe a compaction with its summary", () => {
    const summaries = ["Two lines", "", undefined].map((message) => line("compacted", { message }));
    expect(readLines(meta(), ...summaries).entries.map(({ role, content }) => [role, content])).toEqual([
      ["system", "Context compacted\nTwo lines"],
      ["system", "Context compacted"],
      ["system", "Context compacted"],
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

describe("the title", () => {
  const renamed = (thread_name: unknown) => event("thread_name_updated", { thread_name });

  test("is the first line of the first prompt", () => {
    const { session } = readLines(meta(), say("I start."), say("Count.\nNow.", "user"), say("Next", "user"));
    expect(session.title).toBe("Count.");
  });

  test("is the last name that the thread got, if it has one", () => {
    const { session, skipped } = readLines(
      meta(),
      say("Count.", "user"),
      ...["First", "Lines\n", "\u200b", 7].map(renamed),
      event("other", { thread_name: "Other" }),
    );
    expect(session.title).toBe("Lines");
    expect(skipped).toEqual({ "event_msg/other": 1, "event_msg/thread_name_updated": 1 });
  });
});
