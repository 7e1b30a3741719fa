import { expect, test } from "vitest";
import { readFile } from "./read-file.ts";

const CREATED = Date.parse("2026-03-02T10:00:00Z");
const INFO = {
  id: "ses_1",
  projectID: "p1",
  directory: "/home/user/work",
  title: "Count the lines",
  version: "1.18.33",
};
const user = (id: string, parts: object[]) => ({
  info: { id, sessionID: "ses_1", role: "user", time: { created: CREATED }, model: { modelID: "sonnet" } },
  parts,
});
const assistant = (id: string, parts: object[], fields: object = {}) => ({
  info: {
    id,
    sessionID: "ses_1",
    role: "assistant",
    modelID: "sonnet",
    time: { created: CREATED, completed: CREATED + 2000 },
    tokens: { input: 9, output: 4, reasoning: 1, cache: { read: 100, write: 20 } },
    ...fields,
  },
  parts,
});
const text = (id: string, content: string, fields: object = {}) => ({ id, type: "text", text: content, ...fields });
const finish = (id: string, tokens: object) => ({ id, type: "step-finish", reason: "stop", tokens });
const exported = (...messages: object[]) => JSON.stringify({ info: INFO, messages }, null, 2);
const listed = (entries: { role: string; content: string }[]) => entries.map(({ role, content }) => [role, content]);

test("a session has its messages, calls with results, models, tokens, times and its title", async () => {
  const state = {
    status: "completed",
    input: { command: "ls" },
    output: "notes.txt",
    time: { start: CREATED + 500, end: CREATED + 900 },
  };
  const { format, session, entries, skipped } = await readFile(
    exported(
      user("msg_1", [text("prt_1", "How many lines?")]),
      assistant("msg_2", [
        { id: "prt_2", type: "step-start" },
        { id: "prt_3", type: "reasoning", text: "I look." },
        { id: "prt_4", type: "tool", callID: "toolu_1", tool: "bash", state },
        finish("prt_5", { input: 12, output: 91, reasoning: 0, cache: { read: 0, write: 4000 } }),
      ]),
    ),
  );
  expect([format, session]).toEqual(["opencode", { id: "ses_1", title: "Count the lines" }]);
  expect(entries).toEqual([
    { id: "prt_1", role: "user", content: "How many lines?", created_at: "2026-03-02T10:00:00.000Z" },
    {
      id: "prt_3",
      role: "assistant",
      content: "[thinking]\nI look.",
      model: "sonnet",
      usage: { input: 12, output: 91, cache_read: 0, cache_write: 4000 },
      created_at: "2026-03-02T10:00:00.000Z",
    },
    {
      id: "prt_4.call",
      role: "assistant",
      content: '{"command":"ls"}',
      model: "sonnet",
      tool: { name: "bash", call_id: "toolu_1" },
      created_at: "2026-03-02T10:00:00.500Z",
    },
    {
      id: "prt_4.result",
      role: "tool",
      content: "notes.txt",
      tool: { name: "bash", call_id: "toolu_1", is_error: false },
      created_at: "2026-03-02T10:00:00.900Z",
    },
  ]);
  expect(skipped).toEqual({ "part/step-start": 1 });
});

test("each step of a response has its tokens, and a response without steps those of its message", async () => {
  const usage = (output: number) => ({ input: 1, output, reasoning: 2, cache: { read: 3, write: 4 } });
  const { entries } = await readFile(
    exported(
      assistant("msg_1", [
        text("prt_1", "One"),
        finish("prt_2", usage(10)),
        text("prt_3", "Two"),
        finish("prt_4", usage(20)),
        finish("prt_5", usage(30)),
      ]),
      assistant("msg_2", [text("prt_6", "Three")]),
      assistant("msg_3", [text("prt_7", "Four")], { tokens: { input: "many" } }),
    ),
  );
  expect(entries.map(({ content, usage: tokens }) => [content, tokens?.output])).toEqual([
    ["One", 12],
    ["Two", 22],
    ["[a response without text]", 32],
    ["Three", 5],
    ["Four", undefined],
  ]);
});

test("the last step of a response that is not complete is left to a later export", async () => {
  const running = { status: "running", input: {} };
  const parts = [
    text("prt_1", "One"),
    finish("prt_2", { input: 1, output: 1 }),
    text("prt_3", "Tw"),
    { id: "prt_4", type: "tool", tool: "bash", callID: "c1", state: running },
  ];
  const open = assistant("msg_1", parts, { time: { created: CREATED } });
  expect(listed((await readFile(exported(open))).entries)).toEqual([["assistant", "One"]]);
  const aborted = assistant("msg_1", parts, {
    time: { created: CREATED },
    error: { name: "MessageAbortedError", data: { message: "Aborted" } },
  });
  expect(listed((await readFile(exported(aborted))).entries)).toEqual([
    ["assistant", "One"],
    ["assistant", "Tw"],
    ["assistant", "{}"],
    ["system", "Error: MessageAbortedError: Aborted"],
  ]);
  const followed = await readFile(exported(open, user("msg_2", [text("prt_5", "Go on.")])));
  expect(listed(followed.entries).at(-1)).toEqual(["user", "Go on."]);
  expect(followed.entries).toHaveLength(4);
});

test("files, subtasks, compactions and failed calls are shown, and ignored texts are not", async () => {
  const failed = { status: "error", input: { filePath: "x" }, error: "File not found" };
  const { entries, session } = await readFile(
    JSON.stringify({
      info: { ...INFO, title: "New session - 2026-03-02T10:00:00.000Z" },
      messages: [
        user("msg_1", [
          text("prt_0", "Called the Read tool", { synthetic: true }),
          text("prt_1", "Look at this."),
          { id: "prt_2", type: "file", mime: "image/png", filename: "dot.png", url: "data:image/png;base64,iVBOR" },
          text("prt_3", "hidden", { ignored: true }),
          { id: "prt_4", type: "subtask", agent: "general", description: "Count words" },
          { id: "prt_5", type: "compaction", auto: true },
        ]),
        assistant("msg_2", [{ id: "prt_6", type: "tool", callID: "c1", tool: "read", state: failed }]),
      ],
    }),
  );
  expect(session.title).toBe("Look at this.");
  expect(listed(entries)).toEqual([
    ["system", "Called the Read tool"],
    ["user", "Look at this."],
    ["user", "[file: dot.png]"],
    ["system", "Subtask for general: Count words"],
    ["system", "Context compacted"],
    ["assistant", '{"filePath":"x"}'],
    ["tool", "File not found"],
  ]);
  expect(entries.at(-1)?.tool).toEqual({ name: "read", call_id: "c1", is_error: true });
});

test("an export whose end is missing has the messages before it", async () => {
  const whole = exported(user("msg_1", [text("prt_1", "One")]), user("msg_2", [text("prt_2", "Two")]));
  const { entries, isCut } = await readFile(whole.slice(0, whole.indexOf("Two")));
  expect([listed(entries), isCut]).toEqual([[["user", "One"]], true]);
});
