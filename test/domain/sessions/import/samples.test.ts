import { describe, expect, test } from "vitest";
import { isRecord } from "../../../../domain/shared/json.ts";
import { createReader } from "../../../../domain/sessions/import/transcript-parser.ts";
import { findSample, readAll, SAMPLES, sumTokens } from "./samples.ts";

describe.each(SAMPLES)("$name", ({ format, records, tokens }) => {
  test("has the tokens that the model said in total", () => {
    expect(sumTokens(readAll(createReader(format), records))).toEqual(tokens);
  });

  test("has entries with different ids, a session id and a title", () => {
    const reader = createReader(format);
    const ids = readAll(reader, records).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(reader.session()).toEqual({
      id: expect.stringMatching(/^([0-9a-f-]{36}|ses_\w+$)/),
      title: expect.any(String),
    });
  });

  test("has in each shorter version the same entries as in the whole file, up to a point", () => {
    const whole = readAll(createReader(format), records);
    for (let length = 0; length < records.length; length++) {
      const part = readAll(createReader(format), records.slice(0, length));
      expect(part).toEqual(whole.slice(0, part.length));
    }
  });
});

describe("the tokens of a real session of Claude Code", () => {
  test("are fewer than the sum over all records, because each record of a response repeats its usage", () => {
    const { records, tokens } = findSample("claude-code/session");
    const repeated = records
      .map(({ value }) => value["message"])
      .reduce((sum: number, message) => {
        const usage = isRecord(message) ? (message["usage"] as { output_tokens: number } | undefined) : undefined;
        return sum + (usage?.output_tokens ?? 0);
      }, 0);
    expect(repeated).toBeGreaterThan(tokens.output);
  });

  test("equal the costs that Claude Code recorded before it started a subagent", () => {
    const { records } = findSample("claude-code/session");
    const end = records.findIndex(({ value }) => value["type"] === "cost-state");
    const { "claude-sonnet-4-5": recorded } = records[end]!.value["modelUsage"] as Record<string, object>;
    const { input, output, cache_read, cache_write } = sumTokens(
      readAll(createReader("claude-code"), records.slice(0, end)),
    );
    expect(recorded).toMatchObject({
      inputTokens: input,
      outputTokens: output,
      cacheReadInputTokens: cache_read,
      cacheCreationInputTokens: cache_write,
    });
  });
});

describe("the tokens of a real session of Codex", () => {
  test.each(["codex/session", "codex-0.104/session"])(
    "are neither the sum of the totals nor of the last usages in %s",
    (name) => {
      const { records, tokens } = findSample(name);
      const infos = records
        .filter(({ value }) => isRecord(value["payload"]) && value["payload"]["type"] === "token_count")
        .map(({ value }) => (value["payload"] as { info: TokenInfo | null }).info)
        .filter((info) => info !== null);
      const sumOf = (key: keyof TokenInfo) => infos.reduce((sum, info) => sum + info[key].output_tokens, 0);
      expect(sumOf("total_token_usage")).toBeGreaterThan(tokens.output);
      expect(sumOf("last_token_usage")).toBeGreaterThan(tokens.output);
      expect(infos.at(-1)?.total_token_usage.output_tokens).toBe(tokens.output);
    },
  );

  test("of a fork are only those of its own requests, although its totals include those of the other session", () => {
    for (const name of ["codex/fork", "codex-0.104/fork"]) {
      const { records, tokens } = findSample(name);
      const total = JSON.stringify(records)
        .match(/"total_token_usage":\{"input_tokens":(\d+)/g)
        ?.at(-1);
      expect(Number(total?.match(/\d+$/)?.[0])).toBeGreaterThan(tokens.input + tokens.cache_read);
    }
  });
});

interface TokenInfo {
  total_token_usage: { output_tokens: number };
  last_token_usage: { output_tokens: number };
}

test.each([
  ["gemini-cli/session", "run_shell_command", "How many lines does notes.txt have?"],
  ["opencode/session", "bash", '"How many lines does notes.txt have?"'],
])("the entries of %s show a prompt, thinking, calls and results, of which one has failed", (name, tool, prompt) => {
  const { format, records } = findSample(name);
  const entries = readAll(createReader(format), records);
  expect(entries[0]).toMatchObject({ role: "user", content: prompt });
  expect(entries[1]).toMatchObject({ role: "assistant", content: expect.stringContaining("I list the folder first.") });
  const results = entries.filter((entry) => entry.role === "tool" && entry.tool?.name === tool);
  expect(
    results.map(({ content, tool: called }) => [content.includes("3 notes.txt"), called?.is_error]).slice(-2),
  ).toEqual([
    [true, true],
    [true, false],
  ]);
  const failed = entries.find(({ content }) => content.includes("File not found"));
  expect(failed).toMatchObject({ role: "tool", tool: { is_error: true } });
  expect(entries.filter(({ content }) => content === prompt)).toHaveLength(1);
});

describe("the entries of a real session", () => {
  test.each([
    ["claude-code/session", "Bash", "toolu_0003"],
    ["codex/session", "exec_command", "call_0002"],
    ["codex-0.104/session", "exec_command", "call_0002"],
  ])("of %s show a prompt, thinking, a failed call and its result", (name, tool, callId) => {
    const { format, records } = findSample(name);
    const entries = readAll(createReader(format), records);
    expect(entries[0]).toMatchObject({ role: "user", content: "How many lines does notes.txt have?" });
    expect(entries[1]).toMatchObject({ role: "assistant", content: "[thinking]\nI list the folder first." });
    const [call, result] = entries.filter((entry) => entry.tool?.call_id === callId);
    expect(call).toMatchObject({ role: "assistant", tool: { name: tool } });
    expect(JSON.parse(call!.content)).toMatchObject(
      tool === "Bash" ? { command: "wc -l notes.txt; exit 3" } : { cmd: "wc -l notes.txt; exit 3" },
    );
    expect(result).toMatchObject({
      role: "tool",
      content: expect.stringContaining("3 notes.txt"),
      tool: { name: tool, is_error: true },
    });
  });

  test("of Codex have each message once, although the file has it twice", () => {
    for (const name of ["codex/session", "codex-0.104/session"]) {
      const { records } = findSample(name);
      const entries = readAll(createReader("codex"), records);
      expect(JSON.stringify(records).split("There are 3 words.").length - 1).toBeGreaterThan(1);
      expect(entries.filter(({ content }) => content === "There are 3 words.")).toHaveLength(1);
    }
  });

  test("of Claude Code 1.0 include those of a subagent, with its tokens", () => {
    const { records } = findSample("claude-code-1.0/session");
    const entries = readAll(createReader("claude-code"), records);
    const answer = entries.find(({ role, content }) => role === "assistant" && content === "There are 3 words.");
    expect(answer).toMatchObject({ usage: { input: 14, output: 8, cache_read: 1500, cache_write: 50 } });
  });
});
