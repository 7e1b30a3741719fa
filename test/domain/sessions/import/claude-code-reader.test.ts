import { describe, expect, test } from "vitest";
import { prompt, readLines, record, response, SESSION, TEXT } from "./claude-code-records.ts";
import { sumTokens } from "./samples.ts";

describe("the usage of a response", () => {
  test("is counted once over its records, with the highest numbers if they grow while it is streamed", () => {
    const { entries } = readLines(
      response("a", { id: "msg_1", content: TEXT, usage: { input_tokens: 10, output_tokens: 1 } }),
      response("b", { id: "msg_1", content: TEXT, usage: { input_tokens: 10, output_tokens: 1 } }),
      response("c", { id: "msg_1", content: TEXT, usage: { input_tokens: 10, output_tokens: 90 } }),
    );
    expect(entries.map(({ usage }) => usage?.output)).toEqual([1, undefined, 89]);
    expect(sumTokens(entries)).toEqual({ input: 10, output: 90, cache_read: 0, cache_write: 0 });
  });

  test("is counted for each request, if a proxy gives all messages the same id", () => {
    const usage = { input_tokens: 5, output_tokens: 5 };
    const { entries } = readLines(
      response("a", { id: "msg_1", content: TEXT, usage }, { requestId: "req_1" }),
      response("b", { id: "msg_1", content: TEXT, usage }, { requestId: "req_2" }),
      response("c", { content: TEXT, usage }),
      response("d", { content: TEXT, usage }),
    );
    expect(sumTokens(entries).output).toBe(20);
  });

  test("is counted once for a request whose messages have no id", () => {
    const message = { content: TEXT, usage: { input_tokens: 5, output_tokens: 5 } };
    const { entries } = readLines(...["a", "b"].map((uuid) => response(uuid, message, { requestId: "req_1" })));
    expect(entries.map(({ usage }) => usage?.output)).toEqual([5, undefined]);
  });

  test("is not counted for a copy from another session", () => {
    const message = { id: "msg_1", content: TEXT, usage: { input_tokens: 5, output_tokens: 5 } };
    const { entries } = readLines(
      response("a", message, { requestSessionId: "another" }),
      response("b", message, { forkedFrom: { sessionId: "another", messageUuid: "b" } }),
      response("c", message, { forkedFrom: "another" }),
      response("d", { ...message, id: "msg_2" }, { forkedFrom: { sessionId: SESSION } }),
      response("e", { ...message, id: "msg_3" }, { requestSessionId: SESSION, forkedFrom: { sessionId: "another" } }),
    );
    expect(entries.map(({ usage }) => usage?.output)).toEqual([undefined, undefined, 5, 5, 5]);
  });

  test("is counted for a response that has nothing but thinking without a text", () => {
    const empty = [{ type: "thinking", thinking: "", signature: "c2ln" }];
    const usage = { input_tokens: 5, output_tokens: 5 };
    const { entries, skipped } = readLines(
      response("a", { id: "msg_1", content: empty, usage }),
      response("b", { id: "msg_1", content: TEXT, usage }),
      response("c", { id: "msg_2", content: empty, usage }),
      prompt("d", "Go on."),
    );
    expect(skipped).toEqual({});
    expect(entries.map(({ id, usage: counted }) => [id, counted?.output])).toEqual([
      ["b.0", 5],
      ["c.usage", 5],
      ["d.0", undefined],
    ]);
  });

  test("is that of all four numbers, and never counted twice if they fall and grow again", () => {
    const usage = (output: number) => ({
      input_tokens: 1,
      output_tokens: output,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 4,
    });
    const { entries } = readLines(
      ...[50, 20, 60].map((output) => response(`r${output}`, { id: "msg_1", content: TEXT, usage: usage(output) })),
    );
    expect(entries.map((entry) => entry.usage)).toEqual([
      { input: 1, output: 50, cache_read: 3, cache_write: 4 },
      undefined,
      { input: 0, output: 10, cache_read: 0, cache_write: 0 },
    ]);
  });

  test("of a response without a text has an entry of its own, when the next message begins", () => {
    const empty = (id: string) =>
      response(id, { id, content: [], usage: { input_tokens: 5 } }, { timestamp: "2026-11-20T08:00:00.000Z" });
    const expected = {
      id: "a.usage",
      role: "assistant",
      content: "[a response without text]",
      model: "claude",
      usage: { input: 5, output: 0, cache_read: 0, cache_write: 0 },
      created_at: "2026-11-20T08:00:00.000Z",
    };
    for (const next of [
      prompt("b", "Go on."),
      response("b", { id: "msg_2", content: TEXT }),
      response("b", { model: "<synthetic>", content: TEXT }),
    ]) {
      const { entries, skipped } = readLines(empty("a"), next, prompt("c", "And on."));
      expect(entries.map(({ id }) => id)).toEqual(["a.usage", "b.0", "c.0"]);
      expect([entries[0], skipped]).toEqual([expected, {}]);
    }
    // Its response may continue in a longer version of the file.
    expect(readLines(empty("a")).entries).toEqual([]);
    expect(readLines(empty("a"), empty("b"), prompt("c", "")).entries.map(({ id }) => id)).toEqual([
      "a.usage",
      "b.usage",
    ]);
    expect(readLines(response("a", { content: [] }), prompt("b", "Go on.")).entries).toMatchObject([{ id: "b.0" }]);
  });

  test.each([-1, 1.5, 1e10, "12", null, {}])("with %o output tokens is skipped, or counts as none", (tokens) => {
    const { entries, skipped } = readLines(
      response("a", { id: "msg_1", content: TEXT, usage: { input_tokens: 5, output_tokens: tokens } }),
    );
    expect(sumTokens(entries)).toMatchObject(tokens === null ? { input: 5, output: 0 } : { input: 0, output: 0 });
    expect(skipped).toEqual(tokens === null ? {} : { usage: 1 });
  });
});

test.each(["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"])(
  "a usage with an invalid number of %s is skipped",
  (name) => {
    const usage = { input_tokens: 5, [name]: -1 };
    const { entries, skipped } = readLines(response("a", { id: "msg_1", content: TEXT, usage }));
    expect([entries[0]?.usage, skipped]).toEqual([undefined, { usage: 1 }]);
  },
);

describe("the entries", () => {
  test("have the uuid of their record and the position of their block as ids", () => {
    const { entries } = readLines(
      prompt("u-1", [...TEXT, ...TEXT]),
      prompt("not a visible id", "Hello"),
      prompt("x".repeat(100), "Hello"),
      prompt("x".repeat(101), "Hello"),
    );
    expect(entries.map(({ id }) => id)).toEqual(["u-1.0", "u-1.1", "line-2.0", `${"x".repeat(100)}.0`, "line-4.0"]);
  });

  test("name media, and calls and results of every kind", () => {
    const { entries } = readLines(
      prompt("a", [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }]),
      response("b", {
        content: [
          { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "tea" } },
          {
            type: "web_search_tool_result",
            tool_use_id: "srv_1",
            content: [{ type: "web_search_result", title: "Tea" }],
          },
        ],
      }),
      prompt("c", [{ type: "tool_result", tool_use_id: "unknown", content: [{ type: "document" }] }]),
    );
    expect(entries.map(({ role, content, tool }) => [role, content, tool?.name])).toEqual([
      ["user", "[image: image/png]", undefined],
      ["assistant", '{"query":"tea"}', "web_search"],
      ["tool", '{"type":"web_search_result","title":"Tea"}', "web_search"],
      ["tool", "[document]", "unknown"],
    ]);
  });

  test("have the role system for what Claude Code writes itself", () => {
    const { entries } = readLines(
      prompt("a", "Caveat", { isMeta: true }),
      prompt("b", "Summary", { isCompactSummary: true }),
      prompt("c", "<local-command-stdout>Done</local-command-stdout>"),
      record({ type: "system", subtype: "compact_boundary", uuid: "d", content: "Conversation compacted" }),
      record({ type: "system", subtype: "api_error", uuid: "e", error: { formatted: "529 Overloaded" } }),
      response("f", { model: "<synthetic>", content: TEXT, usage: { input_tokens: 9 } }),
      response("g", { content: TEXT, usage: { input_tokens: 9 } }, { isApiErrorMessage: true }),
    );
    expect(entries.map(({ role, model }) => [role, model])).toEqual(
      Array.from({ length: 7 }, () => ["system", undefined]),
    );
    expect(sumTokens(entries).input).toBe(0);
  });

  test("include what the user wrote while Claude Code worked", () => {
    const attachment = { type: "queued_command", prompt: "Also the tests." };
    const { entries } = readLines(record({ type: "attachment", uuid: "a", attachment }));
    expect(entries).toMatchObject([{ role: "user", content: "Also the tests." }]);
  });

  test("can be stored whatever a record contains", () => {
    const { entries } = readLines(
      prompt("a", "NUL \0 and half of a pair \ud83d", { timestamp: "tomorrow" }),
      prompt("b", "x".repeat(300_000), { timestamp: "2999-01-01T00:00:00Z" }),
      prompt("c", "é".repeat(200_000)),
      response("d", {
        model: "a model\n",
        content: [{ type: "tool_use", id: "a b", name: "two\nlines", input: deep(5000) }],
      }),
    );
    expect(entries[0]).toMatchObject({ content: "NUL \ufffd and half of a pair \ufffd", created_at: undefined });
    expect(Buffer.byteLength(entries[1]!.content)).toBe(262_144);
    expect(Buffer.byteLength(entries[2]!.content)).toBeLessThanOrEqual(262_144);
    expect(entries[2]!.content).toMatch(/^é+\n\[The rest is not imported\.\]$/);
    expect(entries[3]).toMatchObject({
      content: '"[nested too deeply]"',
      model: undefined,
      tool: { name: "unknown", call_id: undefined },
      created_at: "2026-11-20T09:00:00.000Z",
    });
  });

  test("are left out for records of unknown kinds, which are counted", () => {
    const { entries, skipped } = readLines(
      record({ type: "invented", subtype: "kind" }),
      record({ type: "attachment", attachment: { type: "skill_listing" } }),
      { type: 12 },
      {},
      record({ type: "assistant", message: "text" }),
      prompt("a", [{ type: "invented" }, 7]),
      record({ type: "a kind with spaces and more than that" }),
      record({ type: "user" }),
      record({ type: "custom-title", customTitle: 7 }),
      record({ type: ["summary"], summary: "Summary" }),
    );
    expect(entries).toEqual([]);
    expect(skipped).toEqual({
      assistant: 1,
      "attachment/skill_listing": 1,
      "custom-title": 1,
      "invented/kind": 1,
      other: 4,
      user: 2,
      "user/invented": 1,
    });
  });
});

function deep(depth: number): object {
  let value: object = {};
  for (let level = 0; level < depth; level++) value = { inner: value };
  return value;
}
