import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { EntryUsage } from "../../../domain/sessions/transcript-entry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ClientRun } from "../client-run.ts";
import { claudeCode } from "../drivers/claude-code.ts";
import { codex } from "../drivers/codex.ts";
import { geminiCli } from "../drivers/gemini-cli.ts";
import { opencode } from "../drivers/opencode.ts";
import { installClient } from "../install-client.ts";
import type { RealClient } from "../real-client.ts";
import { anthropicScript } from "./anthropic-script.ts";
import { geminiScript } from "./gemini-script.ts";
import { recordClaudeCode } from "./record-claude-code.ts";
import { recordCodex } from "./record-codex.ts";
import { recordGeminiCli } from "./record-gemini-cli.ts";
import { recordOpencode } from "./record-opencode.ts";
import type { RecordedTranscript } from "./recorded-transcript.ts";
import {
  type Block,
  openScriptServer,
  type ScriptedApi,
  type ScriptedSuccess,
  type ScriptServer,
} from "./script-server.ts";

/** The OpenAI Responses API. */
const openAIScript: ScriptedApi = {
  isScripted: (request) => Array.isArray((request as { input?: unknown }).input),
  toEvents(_request, id, success) {
    const response = toResponse(id, success);
    return [
      [{ type: "response.created", response: { id: response.id } }],
      ...response.output.map((item, index) => [
        { type: "response.output_item.added", output_index: index, item },
        { type: "response.output_item.done", output_index: index, item },
      ]),
      [{ type: "response.completed", response }],
    ];
  },
  toBody: (_request, id, success) => toResponse(id, success),
  toError: (message) => ({ error: { type: "invalid_request_error", code: "invalid_request", message } }),
};

function toResponse(id: string, { blocks, usage }: ScriptedSuccess) {
  const output = blocks.map((block, index) => toItem(block, `${id}_${index}`));
  return { id: `resp_${id}`, status: "completed", output, usage: toUsage(usage) };
}

/** The tokens of the cache are included in `input_tokens`. */
function toUsage({ input, output, cache_read, cache_write }: EntryUsage) {
  const inputTokens = input + cache_read + cache_write;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cache_read, cache_write_tokens: cache_write },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: Math.floor(output / 4) },
    total_tokens: inputTokens + output,
  };
}

function toItem(block: Block, id: string): object {
  if ("text" in block) {
    const content = [{ type: "output_text", text: block.text }];
    return { type: "message", id: `msg_${id}`, role: "assistant", content };
  }
  if ("thinking" in block)
    return { type: "reasoning", id: `rs_${id}`, summary: [{ type: "summary_text", text: block.thinking }] };
  const { call: name, id: call_id, input } = block;
  return { type: "function_call", id: `fc_${id}`, call_id, name, arguments: JSON.stringify(input) };
}

/** A version of a program whose transcripts are recorded. */
interface RecordedProgram {
  client: RealClient;
  api: ScriptedApi;
  /** Between the parts of a response. */
  pauseMs: number;
  record(run: ClientRun<ScriptServer>): Promise<RecordedTranscript[]>;
}

/** The newest versions, and ones that write other records than these. */
const PROGRAMS: Record<string, RecordedProgram> = {
  "claude-code": {
    client: claudeCode,
    api: anthropicScript,
    pauseMs: 100,
    record: (run) =>
      recordClaudeCode(run, {
        agentTool: "Agent",
        hasSubagentFiles: true,
        hasScriptedCompaction: true,
        marksCopies: true,
      }),
  },
  "claude-code-1.0": {
    client: { ...claudeCode, version: "1.0.128", installScript: undefined },
    api: anthropicScript,
    // It records the output tokens that are known when a part arrives, and never the total.
    pauseMs: 0,
    record: (run) =>
      recordClaudeCode(run, {
        agentTool: "Task",
        hasSubagentFiles: false,
        hasScriptedCompaction: false,
        marksCopies: false,
      }),
  },
  codex: {
    client: codex,
    api: openAIScript,
    pauseMs: 100,
    record: (run) => recordCodex(run, { hasForkCommand: true, recordsCacheWrites: true }),
  },
  "codex-0.104": {
    client: { ...codex, version: "0.104.0" },
    api: openAIScript,
    pauseMs: 100,
    record: (run) => recordCodex(run, { hasForkCommand: false, recordsCacheWrites: false }),
  },
  "gemini-cli": { client: geminiCli, api: geminiScript, pauseMs: 100, record: recordGeminiCli },
  opencode: { client: opencode, api: anthropicScript, pauseMs: 100, record: recordOpencode },
};

const MAX_CHARACTERS = 300;
const MAX_ELEMENTS = 4;
const MAX_DEPTH = 7;
const ONE_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const SAMPLES = path.join(import.meta.dirname, "..", "..", "domain", "sessions", "import", "samples");
const signal = AbortSignal.timeout(20 * 60_000);

/** Records the sample transcripts again: all, or those of the programs that the arguments name. */
const requested = process.argv.slice(2);
for (const [name, program] of Object.entries(PROGRAMS))
  if (requested.length === 0 || requested.includes(name)) await recordSamples(path.join(SAMPLES, name), program);

async function recordSamples(folder: string, { client, api, pauseMs, record }: RecordedProgram): Promise<void> {
  await using installed = await temporaryFolder();
  const programs = await installClient(client, installed.path, signal);
  await using model = await openScriptServer(api, { pauseMs });
  await using home = await temporaryFolder();
  const options = { folder: home.path, programs, model, signal, gatewayUrl: "", authorize: async () => undefined };
  await using run = await ClientRun.create(options);
  await writeWorkFiles(run.workFolder);
  const transcripts = await record(run);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const tokens: Record<string, EntryUsage> = {};
  for (const transcript of transcripts) {
    tokens[transcript.name] = transcript.tokens;
    const file = `${transcript.name}.${transcript.isDocument === true ? "json" : "jsonl"}`;
    await writeFile(path.join(folder, file), sanitizeTranscript(transcript, run));
  }
  await writeFile(
    path.join(folder, "expected.json"),
    `${JSON.stringify({ version: client.version, tokens }, null, 2)}\n`,
  );
}

/** Replaces the folders of this machine, and shortens what programs write besides the conversation: prompts and schemas. */
function sanitizeTranscript(
  { text, isDocument }: RecordedTranscript,
  { home, workFolder, model }: ClientRun<ScriptServer>,
): string {
  const sanitized = text
    .replaceAll(workFolder, "/home/user/work")
    .replaceAll(home, "/home/user")
    .replaceAll(model.url, "http://127.0.0.1:8080")
    .replaceAll(/"osVersion":"[^"]*"/g, '"osVersion":"Linux"')
    .replaceAll(/OS Version: [^\\"]*/g, "OS Version: Linux");
  if (isDocument === true) return `${JSON.stringify(shortenDocument(JSON.parse(sanitized)), null, 2)}\n`;
  const lines = sanitized.split("\n").filter((line) => line !== "");
  return lines.map((line) => `${JSON.stringify(shorten(JSON.parse(line), 0))}\n`).join("");
}

/** Keeps all messages. */
function shortenDocument(value: { messages: { info: unknown; parts: unknown[] }[] }): unknown {
  const messages = value.messages.map(({ info, parts }) => ({
    info: shorten(info, 0),
    parts: parts.map((part) => shorten(part, 0)),
  }));
  return { ...(shorten(value, 0) as object), messages };
}

function shorten(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value.length > MAX_CHARACTERS ? `${value.slice(0, MAX_CHARACTERS)}…` : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.slice(0, MAX_ELEMENTS).map((element) => shorten(element, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shorten(inner, depth + 1)]));
}

/** Writes the files that the scripted model reads with the tools of a program. */
async function writeWorkFiles(folder: string): Promise<void> {
  await writeFile(path.join(folder, "notes.txt"), "one\ntwo\nthree\n");
  await writeFile(path.join(folder, "dot.png"), Buffer.from(ONE_PIXEL, "base64"));
}
