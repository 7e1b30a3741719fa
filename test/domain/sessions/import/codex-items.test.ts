import { describe, expect, test } from "vitest";
import { describeEvent } from "../../../../domain/sessions/import/codex/codex-reader.ts";
import { readItem } from "../../../../domain/sessions/import/codex/response-items.ts";

describe("a message", () => {
  const message = (role: string, text: string, metadata?: unknown) =>
    readItem({
      type: "message",
      role,
      content: [{ type: "input_text", text }],
      internal_chat_message_metadata_passthrough: metadata,
    });

  test("of the assistant has the role assistant, and any other the role user", () => {
    expect(message("assistant", "Done")).toEqual({ role: "assistant", content: "Done" });
    for (const role of ["user", "agent"])
      expect(message(role, " Go on.\n")).toEqual({ role: "user", content: " Go on.\n" });
  });

  test("that is empty, or of a developer or the system, is left out", () => {
    for (const role of ["developer", "system"]) expect(message(role, "Rules")).toBeNull();
    for (const text of ["", " \n"]) expect(message("user", text)).toBeNull();
    expect(readItem({ type: "message", role: "user" })).toBeNull();
  });

  test("that begins like the context that Codex adds is left out, unless it is of the assistant", () => {
    for (const text of [
      "<environment_context>\n</environment_context>",
      "<user_instructions>Be brief.</user_instructions>",
      "<INSTRUCTIONS>Be brief.</INSTRUCTIONS>",
      "<permissions instructions>Ask.</permissions instructions>",
      "# AGENTS.md instructions for /home/user",
      "<skill>\n<name>pdf</name>\n</skill>",
      "<turn_aborted>Interrupted</turn_aborted>",
      "<subagent_notification>{}</subagent_notification>",
      "<recommended_plugins></recommended_plugins>",
      "<goal_context></goal_context>",
      '<codex_internal_context source="goal">Go on.</codex_internal_context>',
      '<hook_prompt hook_run_id="1">Stop.</hook_prompt>',
    ]) {
      expect([text, message("user", text)]).toEqual([text, null]);
      expect(message("user", text, { content_item_metadata: [] })).toBeNull();
      expect(message("user", `Read this: ${text}`)).toMatchObject({ role: "user" });
      expect(message("assistant", text)).toMatchObject({ role: "assistant" });
    }
  });

  test("is left out if Codex says of each of its parts that it added them", () => {
    const harness = { provenance: { type: "harness" } };
    const isLeftOut = (...parts: unknown[]) => message("user", "The date", { content_item_metadata: parts }) === null;
    expect([isLeftOut(harness), isLeftOut(harness, harness)]).toEqual([true, true]);
    for (const other of [{ provenance: { type: "user" } }, { provenance: "harness" }, {}, "harness"])
      expect(isLeftOut(harness, other)).toBe(false);
    expect(message("user", "Hello", { content_item_metadata: [] })).toMatchObject({ role: "user" });
    const own = { content_item_metadata: [{ provenance: { type: "user" } }] };
    expect(message("user", "<environment_context> is a tag.", own)).toMatchObject({ role: "user" });
  });
});

describe("a message whose parts have kinds", () => {
  const message = (kinds: unknown[], texts: string[], metadata: object = {}) =>
    readItem({
      type: "message",
      role: "user",
      content: texts.map((text) => ({ type: "input_text", text })),
      internal_chat_message_metadata_passthrough: { content_item_kinds: kinds, ...metadata },
    });

  test("has only the parts of the user", () => {
    expect(message(["environments.environment_context", "user.text"], ["The date", "Hello"])).toEqual({
      role: "user",
      content: "Hello",
    });
    for (const kind of ["unknown", "", "user.image", "images.unsupported", "audio.unsupported", 7])
      expect([kind, message([kind], ["<skill> is a tag."])?.content]).toEqual([kind, "<skill> is a tag."]);
    for (const kind of ["host_skills.instructions", "permissions.instructions", "users.text"])
      expect([kind, message([kind], ["Hello"])]).toEqual([kind, null]);
  });

  test("is read by its text if the kinds are not those of its parts", () => {
    expect(message(["skills.instructions"], ["Hello", "you"])?.content).toBe("Hello\nyou");
    expect(message([], ["<skill>\n<name>pdf</name></skill>"])).toBeNull();
  });

  test("is left out if Codex added each part, whatever the kinds are", () => {
    const added = { content_item_metadata: [{ provenance: { type: "harness" } }] };
    expect(message(["unknown"], ["Go on."], added)).toBeNull();
  });
});

test("a message between agents says who wrote it to whom", () => {
  const content = [{ type: "input_text", text: "Done." }];
  expect(readItem({ type: "agent_message", author: "/root/tests", recipient: "/root", content })).toEqual({
    role: "system",
    content: "Message from /root/tests to /root\nDone.",
  });
  expect(readItem({ type: "agent_message", content: "Done." })?.content).toBe(
    "Message from an agent to an agent\nDone.",
  );
  expect(readItem({ type: "agent_message", author: "/root", recipient: "/root/a", content: [] })).toBeNull();
});

test("reasoning has its summary and its content", () => {
  const reasoning = (fields: object) => readItem({ type: "reasoning", ...fields });
  const part = (text: string) => [{ type: "text", text }];
  const expected = (text: string) => ({ role: "assistant", content: `[thinking]\n${text}` });
  expect(reasoning({ summary: part("I count."), content: part("One, two.") })).toEqual(expected("I count.\nOne, two."));
  expect(reasoning({ summary: [], content: part("One, two.") })).toEqual(expected("One, two."));
  expect(reasoning({ summary: part(" "), content: null })).toBeNull();
  expect(reasoning({})).toBeNull();
});

describe("a call", () => {
  test.each([
    [{ type: "function_call", name: "list", namespace: "mcp__", arguments: "{}" }, "mcp__list", "{}"],
    [{ type: "function_call", name: "list", arguments: { path: "." } }, "list", '{"path":"."}'],
    [{ type: "function_call", name: "list", namespace: "mcp__apps", arguments: "{}" }, "mcp__apps__list", "{}"],
    [{ type: "function_call", name: "list", namespace: "", arguments: "{}" }, "list", "{}"],
    [{ type: "custom_tool_call", name: "run", namespace: "mcp__apps", input: "1" }, "mcp__apps__run", "1"],
    [{ type: "function_call", name: "list", namespace: 7, arguments: null }, "list", ""],
    [{ type: "function_call", namespace: "mcp__" }, undefined, ""],
    [{ type: "custom_tool_call", name: "apply_patch", input: "*** Begin" }, "apply_patch", "*** Begin"],
    [{ type: "local_shell_call", action: { command: ["ls"] } }, "local_shell", '{"command":["ls"]}'],
    [{ type: "local_shell_call" }, "local_shell", "{}"],
    [{ type: "tool_search_call", arguments: { query: "tea" } }, "tool_search", '{"query":"tea"}'],
  ])("%o has a name, an id and its arguments as text", (item, name, content) => {
    expect(readItem({ ...item, call_id: "c1", id: "i1" })).toEqual({
      role: "assistant",
      content,
      tool: { name, callId: "c1" },
    });
  });

  test("of the generation of an image has its prompt", () => {
    expect(readItem({ type: "image_generation_call", id: "ig_1", revised_prompt: "A cup", result: "iVBOR" })).toEqual({
      role: "assistant",
      content: "A cup",
      tool: { name: "image_generation", callId: "ig_1" },
    });
    expect(readItem({ type: "image_generation_call", id: "ig_1" })?.content).toBe("");
  });

  test("of a local shell or a web search can have an id of the item only", () => {
    for (const [type, name] of [
      ["local_shell_call", "local_shell"],
      ["web_search_call", "web_search"],
    ] as const)
      expect(readItem({ type, id: "i1" })).toEqual({
        role: "assistant",
        content: "{}",
        tool: { name, callId: "i1" },
      });
  });
});

describe("a result", () => {
  const errorOf = (output: unknown) => readItem({ type: "function_call_output", call_id: "c1", output })?.tool?.isError;

  test.each([
    "function_call_output",
    "custom_tool_call_output",
    "tool_search_output",
    "local_shell_call_output",
    "mcp_tool_call_output",
  ])("of type %s is read", (type) => {
    expect(readItem({ type, call_id: "c1", output: "Two" })).toEqual({
      role: "tool",
      content: "Two",
      tool: { name: undefined, callId: "c1", isError: undefined },
    });
  });

  test("has the texts of its parts, the types of media, and other parts as JSON", () => {
    const output = [
      { type: "input_text", text: "Two apps" },
      { type: "input_image", image_url: "data:" },
      { type: "input_file" },
      { type: "audio" },
      { type: "image_url" },
      { type: "the image" },
      { type: "image/png" },
      { type: ["image"] },
      "text",
      null,
    ];
    const expected = [
      "Two apps\n[input_image]\n[input_file]\n[audio]\n[image_url]",
      '{"type":"the image"}\n{"type":"image/png"}\n{"type":["image"]}\n"text"\nnull',
    ].join("\n");
    expect(readItem({ type: "function_call_output", output })?.content).toBe(expected);
    expect(readItem({ type: "function_call_output", output: { content: output } })?.content).toBe(expected);
    for (const absent of [undefined, null, {}])
      expect(readItem({ type: "function_call_output", output: absent })?.content).toBe("");
  });

  test("is an error if it has no success, or the command an exit code other than 0 in its header", () => {
    expect(errorOf({ content: "x", success: false })).toBe(true);
    expect(errorOf({ content: "x", success: true })).toBeUndefined();
    expect(errorOf({ content: "Exit code: 1", success: true })).toBe(true);
    expect(errorOf("Chunk ID: 1\nProcess exited with code 3\nOutput:\nx")).toBe(true);
    expect(errorOf("Chunk ID: 1\nProcess exited with code 0\nOutput:\nExit code: 1")).toBe(false);
    expect(errorOf("Exit code: 12\nWall time: 1 s\nOutput:\n")).toBe(true);
    expect(errorOf("The Exit code: 1")).toBeUndefined();
    expect(errorOf("Exit code: 1 of 2")).toBeUndefined();
    expect(errorOf(`${"x".repeat(287)}\nExit code: 1`)).toBe(true);
    expect(errorOf(`${"x".repeat(288)}\nExit code: 1\n`)).toBeUndefined();
  });

  test("of a search for tools has the tools that were found", () => {
    const tools = [{ type: "namespace", name: "mcp__apps" }];
    expect(readItem({ type: "tool_search_output", call_id: "c1", tools })?.content).toBe(JSON.stringify(tools[0]));
  });

  test("with the status failed is an error, and can have an id of the item only", () => {
    expect(readItem({ type: "local_shell_call_output", id: "i1", output: "no", status: "failed" })?.tool).toEqual({
      name: undefined,
      callId: "i1",
      isError: true,
    });
    expect(readItem({ type: "function_call_output", output: "x", status: "completed" })?.tool?.isError).toBeUndefined();
  });

  test("of older versions is an error by the exit code at the end of its JSON", () => {
    const output = (exitCode: number, text = "done") =>
      JSON.stringify({ output: text, metadata: { exit_code: exitCode, duration_seconds: 0.1 } });
    expect([errorOf(output(0)), errorOf(output(1)), errorOf(output(0, "x".repeat(1000)))]).toEqual([
      false,
      true,
      false,
    ]);
    expect(errorOf(` ${output(1)}`)).toBeUndefined();
    expect(errorOf(`{"output":"x","metadata":{"exit_code":1},"more":"${"x".repeat(300)}"}`)).toBeUndefined();
  });
});

test("an event says an error, or why a turn was aborted", () => {
  for (const type of ["error", "stream_error"]) {
    expect(describeEvent({ type, message: "No quota" })).toBe("Error: No quota");
    for (const message of [undefined, "", 7]) expect(describeEvent({ type, message })).toBe("Error");
  }
  expect(describeEvent({ type: "turn_aborted", reason: "interrupted" })).toBe("Turn aborted: interrupted");
  expect(describeEvent({ type: "turn_aborted" })).toBe("Turn aborted");
  expect(describeEvent({ type: "task_complete", error: { message: "Bad request" } })).toBe("Error: Bad request");
  for (const error of [undefined, null, "Bad request"])
    expect(describeEvent({ type: "task_complete", error })).toBeNull();
  expect(describeEvent({ type: "agent_message", message: "Hi", reason: "x", error: { message: "x" } })).toBeNull();
});
