import { expect, test } from "vitest";
import { readFile, toLines } from "./read-file.ts";

const TIME = "2026-03-02T10:00:00.000Z";
const SESSION = {
  type: "session",
  version: 3,
  id: "b3db607f-0000-4000-8000-000000000001",
  timestamp: TIME,
  cwd: "/home/user",
};
const message = (id: string, fields: object) => ({
  type: "message",
  id,
  parentId: null,
  timestamp: TIME,
  message: fields,
});
const USAGE = { input: 12, output: 7, cacheRead: 100, cacheWrite: 5, totalTokens: 124, cost: { total: 0.01 } };

test("a session has prompts, thinking, calls with the names of their tools in the results, models and tokens", async () => {
  const { format, session, entries, skipped } = await readFile(
    toLines(
      SESSION,
      { type: "model_change", id: "a1", timestamp: TIME, provider: "anthropic", modelId: "sonnet" },
      message("a2", { role: "user", content: [{ type: "text", text: "List the files." }], timestamp: 1 }),
      message("a3", {
        role: "assistant",
        model: "sonnet",
        usage: USAGE,
        content: [
          { type: "thinking", thinking: "I list them.", thinkingSignature: "c2ln" },
          { type: "text", text: "One moment." },
          { type: "toolCall", id: "toolu_1", name: "exec", arguments: { command: "ls" } },
        ],
      }),
      message("a4", {
        role: "toolResult",
        toolCallId: "toolu_1",
        toolName: "exec",
        isError: false,
        content: [
          { type: "text", text: "notes.txt" },
          { type: "image", mimeType: "image/png", data: "iVBOR" },
        ],
      }),
      message("a5", { role: "toolResult", toolCallId: "toolu_1", isError: true, content: "No" }),
      { type: "custom", customType: "model-snapshot", id: "a6", timestamp: TIME, data: {} },
    ),
  );
  expect([format, session]).toEqual(["openclaw", { id: SESSION.id, title: "List the files." }]);
  expect(
    entries.map(({ id, role, content, model, tool, usage }) => [id, role, content, model, tool?.name, usage?.output]),
  ).toEqual([
    ["a2", "user", "List the files.", undefined, undefined, undefined],
    ["a3.0", "assistant", "[thinking]\nI list them.", "sonnet", undefined, 7],
    ["a3.1", "assistant", "One moment.", "sonnet", undefined, undefined],
    ["a3.2", "assistant", '{"command":"ls"}', "sonnet", "exec", undefined],
    ["a4", "tool", "notes.txt\n[image: image/png]", undefined, "exec", undefined],
    ["a5", "tool", "No", undefined, "unknown", undefined],
  ]);
  expect(entries[1]?.usage).toEqual({ input: 12, output: 7, cache_read: 100, cache_write: 5 });
  expect(entries.map(({ tool }) => tool?.is_error)).toEqual([undefined, undefined, undefined, undefined, false, true]);
  expect(skipped).toEqual({ "custom/model-snapshot": 1, model_change: 1 });
});

test("compactions, commands of the user, notices, errors and names of the session are shown", async () => {
  const { entries, session } = await readFile(
    toLines(
      SESSION,
      message("a1", { role: "user", content: "Hello" }),
      message("a2", { role: "assistant", content: [], usage: USAGE, stopReason: "error", errorMessage: "Overloaded" }),
      message("a3", { role: "bashExecution", command: "ls", output: "notes.txt", exitCode: 0 }),
      { type: "compaction", id: "a4", timestamp: TIME, summary: "The user said hello.", tokensBefore: 9000 },
      { type: "branch_summary", id: "a5", timestamp: TIME, summary: "Another try." },
      { type: "custom_message", id: "a6", timestamp: TIME, customType: "note", content: "A note", display: true },
      { type: "session_info", id: "a7", timestamp: TIME, name: "Greeting" },
    ),
  );
  expect(session.title).toBe("Greeting");
  expect(entries.map(({ role, content, usage }) => [role, content, usage?.output])).toEqual([
    ["user", "Hello", undefined],
    ["assistant", "[a response without text]", 7],
    ["system", "Error: Overloaded", undefined],
    ["system", "$ ls\nnotes.txt", undefined],
    ["system", "Context compacted\nThe user said hello.", undefined],
    ["system", "Summary of another branch\nAnother try.", undefined],
    ["system", "A note", undefined],
  ]);
});
