/** Writes transcripts like those of Claude Code, with the shapes of the records in test/domain/sessions/import/samples. */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const PROJECT = path.join(import.meta.dirname, "../..");
const REQUESTS_PER_PROMPT = 6;

/** Writes a transcript of about `bytes` bytes. Tools return parts of the sources of this project. */
export async function writeTranscript(file: string, bytes: number): Promise<void> {
  const sources = await readSources();
  await pipeline(Readable.from(takeBytes(createLines(sources), bytes)), createWriteStream(file));
}

async function readSources(): Promise<string> {
  const files = await Array.fromAsync(glob("{domain,server}/**/*.ts", { cwd: PROJECT }));
  const texts = await Promise.all(files.toSorted().map((name) => readFile(path.join(PROJECT, name), "utf8")));
  return texts.join("\n");
}

function* takeBytes(lines: Iterable<string>, bytes: number): Generator<string> {
  let written = 0;
  for (const line of lines) {
    yield line;
    written += Buffer.byteLength(line);
    if (written >= bytes) return;
  }
}

function* createLines(sources: string): Generator<string> {
  const sessionId = randomUUID();
  let seconds = 0;
  let at = 0;
  /** The next part of the sources. */
  const take = (length: number): string => {
    if (at + length > sources.length) at = 0;
    at += length;
    return sources.slice(at - length, at);
  };
  const record = (fields: object): string => {
    const timestamp = new Date(Date.UTC(2026, 0, 1) + 1000 * seconds++).toISOString();
    const place = { cwd: "/home/user/work", sessionId, version: "2.1.330", gitBranch: "main", timestamp };
    const ids = { parentUuid: randomUUID(), isSidechain: false, userType: "external", entrypoint: "cli" };
    return `${JSON.stringify({ ...ids, uuid: randomUUID(), ...fields, ...place })}\n`;
  };
  for (let request = 0; ; request++) {
    if (request % REQUESTS_PER_PROMPT === 0)
      yield record({ type: "user", message: { role: "user", content: take(300) } });
    yield* createRequest(request, { record, take });
  }
}

interface Parts {
  record(fields: object): string;
  take(length: number): string;
}

/** A response with a record for each of its blocks, all of which repeat its usage, and the results of its calls. */
function* createRequest(number: number, { record, take }: Parts): Generator<string> {
  const usage = {
    input_tokens: 12,
    cache_creation_input_tokens: 400 + (number % 300),
    cache_read_input_tokens: 20_000 + number,
    output_tokens: 90 + (number % 200),
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: "standard",
    cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 400 + (number % 300) },
  };
  const response = (block: object) => {
    const message = { id: `msg_${number}`, type: "message", role: "assistant", model: "claude-sonnet-5", usage };
    return record({ type: "assistant", requestId: `req_${number}`, message: { ...message, content: [block] } });
  };
  yield response({ type: "thinking", thinking: take(800), signature: "c2ln".repeat(60) });
  if (number % 3 === 0) yield response({ type: "text", text: take(400) });
  const calls = Array.from({ length: 1 + (number % 2) }, (_, index) => `toolu_${number}_${index}`);
  for (const id of calls)
    yield response({ type: "tool_use", id, name: "Bash", input: { command: take(120), description: "Read a file" } });
  for (const [index, id] of calls.entries()) {
    const stdout = take(500 + ((number * 7919 + index * 104_729) % 9000));
    const block = { tool_use_id: id, type: "tool_result", content: stdout, is_error: false };
    yield record({
      type: "user",
      message: { role: "user", content: [block] },
      toolUseResult: { stdout, stderr: "", interrupted: false, isImage: false },
    });
  }
  yield record({ type: "attachment", attachment: { type: "total_tokens_reminder", used: number } });
}
