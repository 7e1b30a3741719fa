import { expect, test } from "vitest";
import { readFile, toLines } from "./read-file.ts";

const META = {
  sessionId: "a3370a6d-09a9-4eb9-8af4-58c906fab0a2",
  projectHash: "6d42",
  startTime: "2026-03-02T10:00:00.000Z",
};
const TIME = "2026-03-02T10:00:01.000Z";
const TOKENS = { input: 150, output: 20, cached: 100, thoughts: 5, tool: 3, total: 175 };

const say = (id: string, text: string, fields: object = {}) => ({
  id,
  timestamp: TIME,
  type: "gemini",
  content: text,
  model: "gemini-3-pro",
  ...fields,
});
const ask = (id: string, text: string) => ({ id, timestamp: TIME, type: "user", content: [{ text }] });
const call = (fields: object = {}) => ({
  id: "shell__1",
  name: "run_shell_command",
  args: { command: "ls" },
  status: "success",
  timestamp: TIME,
  result: [{ functionResponse: { id: "shell__1", name: "run_shell_command", response: { output: "notes.txt" } } }],
  ...fields,
});
const listed = (entries: { role: string; content: string }[]) => entries.map(({ role, content }) => [role, content]);

test("a JSON document of an older version has the same entries as a JSONL file", async () => {
  const messages = [ask("m1", "List the files."), say("m2", "I list them.", { tokens: TOKENS, toolCalls: [call()] })];
  const document = await readFile(JSON.stringify({ ...META, messages, summary: "Files" }, null, 2));
  const lines = await readFile(toLines(META, ...messages, { $set: { summary: "Files" } }));
  expect(document).toEqual(lines);
  expect(lines).toMatchObject({ format: "gemini-cli", session: { id: META.sessionId, title: "Files" }, isCut: false });
  expect(lines.entries).toEqual([
    { id: "m1", role: "user", content: "List the files.", created_at: TIME },
    {
      id: "m2",
      role: "assistant",
      content: "I list them.",
      model: "gemini-3-pro",
      created_at: TIME,
      usage: { input: 53, output: 25, cache_read: 100, cache_write: 0 },
    },
    {
      id: "m2.0.call",
      role: "assistant",
      content: '{"command":"ls"}',
      model: "gemini-3-pro",
      tool: { name: "run_shell_command", call_id: "shell__1" },
      created_at: TIME,
    },
    {
      id: "m2.0.result",
      role: "tool",
      content: "notes.txt",
      tool: { name: "run_shell_command", call_id: "shell__1", is_error: false },
      created_at: TIME,
    },
  ]);
});

test("a message that is written again counts once, with what was added", async () => {
  const { entries } = await readFile(
    toLines(
      META,
      ask("m1", "List the files."),
      say("m2", ""),
      say("m2", "", { tokens: TOKENS }),
      say("m2", "", { tokens: TOKENS, toolCalls: [call({ status: "executing", result: null })] }),
      say("m2", "", { tokens: TOKENS, toolCalls: [call()] }),
      say("m3", "One.", { tokens: TOKENS }),
    ),
  );
  expect(entries.map(({ id, usage }) => [id, usage?.output])).toEqual([
    ["m1", undefined],
    ["m2.0.call", 25],
    ["m2.0.result", undefined],
    ["m3", 25],
  ]);
});

test("the last response is left to a longer version of the file while its tokens may follow", async () => {
  const start = [META, ask("m1", "Hi"), say("m2", "Hello", { tokens: TOKENS }), ask("m3", "And?"), say("m4", "Well")];
  expect((await readFile(toLines(...start))).entries.map(({ id }) => id)).toEqual(["m1", "m2", "m3"]);
  expect((await readFile(toLines(...start, ask("m5", "Go on.")))).entries.map(({ id }) => id)).toHaveLength(5);
  const without = await readFile(toLines(META, ask("m1", "Hi"), say("m2", "Hello")));
  expect(without.entries.map(({ id }) => id)).toEqual(["m1", "m2"]);
});

test("messages that a resumed session repeats are not imported again, and what Gemini CLI adds for the model is left out", async () => {
  const context = ask("m0", "<session_context>\nToday is Friday.\n</session_context>");
  const response = { functionResponse: { name: "run_shell_command", response: { output: "notes.txt" } } };
  const { entries, session, skipped } = await readFile(
    toLines(
      META,
      { $set: { messages: [context], lastUpdated: TIME } },
      ask("m1", "List the files."),
      say("m2", "I list them.", { tokens: TOKENS, toolCalls: [call()] }),
      { id: "m3", timestamp: TIME, type: "user", content: [response] },
      META,
      {
        $set: {
          messages: [
            context,
            ask("m1", "List the files."),
            say("m2", "", { content: [{ text: "I list them." }, { functionCall: { name: "run_shell_command" } }] }),
            ask("m9", "<state_snapshot>The user listed files.</state_snapshot>"),
          ],
        },
      },
      ask("m4", "Thanks."),
    ),
  );
  expect(listed(entries)).toEqual([
    ["user", "List the files."],
    ["assistant", "I list them."],
    ["assistant", '{"command":"ls"}'],
    ["tool", "notes.txt"],
    ["user", "Thanks."],
  ]);
  expect(session.title).toBe("List the files.");
  expect(skipped).toEqual({ "user/context": 3, "user/empty": 1 });
});

test("thoughts, notices, errors, media and a rewind are shown", async () => {
  const { entries } = await readFile(
    toLines(
      META,
      { ...ask("m1", "x"), content: [{ text: "Look:" }, { inlineData: { mimeType: "image/png", data: "iVBOR" } }] },
      say("m2", "A dot.", { thoughts: [{ subject: "Image", description: "I look." }], tokens: TOKENS }),
      { id: "m3", timestamp: TIME, type: "error", content: "No quota" },
      { id: "m4", timestamp: TIME, type: "info", content: "Request cancelled." },
      { $rewindTo: "m2" },
      { id: "m5", timestamp: TIME, type: "user", content: "Again", displayContent: "Again, please" },
    ),
  );
  expect(listed(entries)).toEqual([
    ["user", "Look:\n[media: image/png]"],
    ["assistant", "[thinking]\nImage\nI look."],
    ["assistant", "A dot."],
    ["system", "Error: No quota"],
    ["system", "Request cancelled."],
    ["system", "The conversation was rewound. The model does not see the last messages any more."],
    ["user", "Again, please"],
  ]);
  expect(entries[1]?.usage?.input).toBe(53);
});

test("a call has failed if its status says so, or the exit code of its command", async () => {
  const output = (text: string) => [{ functionResponse: { response: { output: text } } }];
  const calls = [
    call({ status: "error", result: [{ functionResponse: { response: { error: "File not found" } } }] }),
    call({ status: "cancelled", result: null, resultDisplay: "Cancelled" }),
    call({ result: output("<untrusted_context>\nOutput: x\nExit Code: 3\n</untrusted_context>") }),
    call({ result: output("<untrusted_context>\nOutput: x\nExit Code: 0\n</untrusted_context>") }),
    call({ result: [{ functionResponse: { response: { content: [1] } } }] }),
  ];
  const { entries } = await readFile(toLines(META, say("m1", "", { toolCalls: calls, tokens: TOKENS })));
  expect(entries.filter(({ role }) => role === "tool").map(({ content, tool }) => [content, tool?.is_error])).toEqual([
    ["File not found", true],
    ["Cancelled", true],
    ["Output: x\nExit Code: 3", true],
    ["Output: x\nExit Code: 0", false],
    ['{"content":[1]}', false],
  ]);
});

test("a usage that is not a number of tokens is skipped, and one without text has an entry", async () => {
  const { entries, skipped } = await readFile(
    toLines(META, say("m1", "One", { tokens: { input: -1 } }), say("m2", "", { tokens: TOKENS }), ask("m3", "Go on.")),
  );
  expect(entries.map(({ content, usage }) => [content, usage?.output])).toEqual([
    ["One", undefined],
    ["[a response without text]", 25],
    ["Go on.", undefined],
  ]);
  expect(skipped).toEqual({ usage: 1 });
});
