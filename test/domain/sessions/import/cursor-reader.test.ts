import { describe, expect, test } from "vitest";
import { readFile, toLines } from "./read-file.ts";

const say = (role: string, ...content: object[]) => ({ role, message: { content } });
const text = (value: string) => ({ type: "text", text: value });
const PROMPT =
  "<timestamp>Tuesday, Jul 28, 2026, 12:06 PM (UTC+2)</timestamp>\n<open_files>a.ts</open_files>\n<user_query>\nList the files.\n</user_query>";

describe("a transcript of an agent", () => {
  test("has prompts without what Cursor adds, calls with their tools, and the times of the prompts", async () => {
    const { format, entries, session, skipped } = await readFile(
      toLines(
        say("user", text(PROMPT)),
        say("assistant", text("I list them."), { type: "tool_use", name: "Shell", input: { command: "ls" } }),
        say("assistant", text("[REDACTED]"), { type: "thinking", thinking: "One file." }),
        { type: "turn_ended", status: "success" },
        say("user", text("Thanks.")),
        { type: "turn_ended", status: "error" },
      ),
    );
    expect(format).toBe("cursor");
    expect(entries.map(({ id, role, content, tool }) => [id, role, content, tool?.name])).toEqual(
      [
        ["line-1.0", "user", "List the files.", undefined],
        ["line-2.0", "assistant", "I list them.", undefined],
        ["line-2.1", "assistant", '{"command":"ls"}', "Shell"],
        ["line-3.1", "assistant", "[thinking]\nOne file.", undefined],
        ["line-5.0", "user", "Thanks.", undefined],
        ["line-6", "system", "Turn ended: error"],
      ].map((row) => (row.length === 3 ? [...row, undefined] : row)),
    );
    expect(entries[0]?.created_at).toBe("2026-07-28T10:06:00.000Z");
    expect(session).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), title: "List the files." });
    expect(skipped).toEqual({ turn_ended: 1 });
  });

  test("is named by its first two messages, so that a longer version is the same session and another one is not", async () => {
    const start = [say("user", text("Hello")), say("assistant", text("Hi"))];
    const idOf = async (...records: object[]) => (await readFile(toLines(...records))).session.id;
    const id = await idOf(...start);
    expect(await idOf(...start, say("user", text("Go on.")))).toBe(id);
    expect(await idOf(start[0]!, say("assistant", text("Hello!")))).not.toBe(id);
  });

  test.each([
    ["Tuesday, Jul 28, 2026, 12:06 PM (UTC-3:30)", "2026-07-28T15:36:00.000Z"],
    ["Tuesday, Jul 28, 2026, 12:06 AM (UTC)", "2026-07-28T00:06:00.000Z"],
    ["Tuesday, Jul 28, 2026", undefined],
    ["yesterday", undefined],
  ])("with the time %s has it", async (time, expected) => {
    const { entries } = await readFile(toLines(say("user", text(`<timestamp>${time}</timestamp>\nHello`))));
    expect(entries).toMatchObject([{ content: "Hello" }]);
    expect(entries[0]?.created_at).toBe(expected);
  });
});

describe("a chat that was exported as Markdown", () => {
  const EXPORT = [
    "# Landing page",
    "_Exported on 10/7/2026 at 17:09:40 GMT+5:30 from Cursor (3.2.11)_",
    "",
    "---",
    "",
    "**User**",
    "",
    "Which colours?",
    "",
    "---",
    "",
    "**Cursor**",
    "",
    "Two:",
    "",
    "---",
    "",
    "- blue",
    "**User** is a heading.",
    "",
    "---",
    "",
    "**User**",
    "",
    "Thanks.",
    "",
  ];

  test("has its messages and its title", async () => {
    const { format, entries, session } = await readFile(EXPORT.join("\n"), 7);
    expect([format, session.title]).toEqual(["cursor", "Landing page"]);
    expect(entries.map(({ id, role, content }) => [id, role, content])).toEqual([
      ["line-6.0", "user", "Which colours?"],
      ["line-12.0", "assistant", "Two:\n\n---\n\n- blue\n**User** is a heading."],
      ["line-23.0", "user", "Thanks."],
    ]);
  });

  test("can have Windows line ends, and is the same session with another time of the export", async () => {
    const { session, entries } = await readFile(EXPORT.join("\r\n"));
    const again = EXPORT.with(1, "_Exported on 11/7/2026 at 08:00:00 GMT+5:30 from Cursor (3.3.0)_");
    expect((await readFile(again.join("\n"))).session).toEqual(session);
    expect(entries[0]?.content).toBe("Which colours?");
  });

  test("is not any Markdown file", async () => {
    await expect(readFile("# Notes\n\n---\n\n**User**\n\nHello\n")).rejects.toThrow(
      "The file is not a transcript of claude-code, codex, cursor, gemini-cli, openclaw, or opencode. Nothing is imported.",
    );
  });
});
