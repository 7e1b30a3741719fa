import { describe, expect, test } from "vitest";
import { prompt, readLines, record, response, SESSION, TEXT } from "./claude-code-records.ts";

describe("the session", () => {
  test("has the title that the user gave, else a generated one, else the first line of the first prompt", () => {
    const generated = { type: "ai-title", aiTitle: "Counts lines", sessionId: SESSION };
    const given = { type: "custom-title", customTitle: "Lines", sessionId: SESSION };
    const summary = { type: "summary", summary: "Summary", leafUuid: "a" };
    const command = prompt("a", "<command-name>/init</command-name>");
    const first = prompt("b", "\n  Count the\u200b lines.\nThen the words.");
    expect(readLines(command, first).session.title).toBe("Count the lines.");
    expect(readLines(first, summary).session.title).toBe("Summary");
    expect(readLines(generated, first, summary).session.title).toBe("Counts lines");
    expect(readLines(given, generated, first).session.title).toBe("Lines");
    expect(readLines(generated, { ...generated, aiTitle: "Words" }, { ...generated, aiTitle: " " })).toMatchObject({
      session: { title: "Words" },
      skipped: { "ai-title": 1 },
    });
    expect(readLines(prompt("a", "word ".repeat(100))).session.title).toHaveLength(100);
  });

  test("has no title of texts that Claude Code adds, or that have no words", () => {
    for (const [content, fields] of [
      ["Caveat", { isMeta: true }],
      ["Summary", { isCompactSummary: true }],
      [[{ type: "tool_result", tool_use_id: "c1", content: "Result" }], {}],
      ["\u200b", {}],
    ] as const)
      expect(readLines(prompt("a", content, fields), prompt("b", "First"), prompt("c", "Second")).session.title).toBe(
        "First",
      );
    const blocks = [
      { type: "text", text: "<system-reminder>" },
      { type: "text", text: "First" },
    ];
    expect(readLines(response("a", { content: TEXT }), prompt("b", blocks)).session.title).toBe("First");
    expect(readLines(record({ type: "user", uuid: "a", message: "text" })).session.title).toBeNull();
  });

  test("of a subagent's file has an id of its own", () => {
    const idOf = (fields: object) => readLines(prompt("a", "Count.", fields), prompt("b", "x")).session.id;
    expect(idOf({ isSidechain: true, agentId: "a5315e1c" })).toBe(`${SESSION}.a5315e1c`);
    expect(idOf({ isSidechain: false, agentId: "a5315e1c" })).toBe(SESSION);
    expect(idOf({ isSidechain: true, agentId: "two words" })).toBe(SESSION);
    expect(idOf({ sessionId: 7 })).toBe(SESSION);
  });

  test("has no id before a record names it", () => {
    for (const line of [record({ type: "ai-title", aiTitle: "Title" }), prompt("a", "Count.", { sessionId: 7 })])
      expect(readLines(line).session.id).toBeNull();
  });
});
