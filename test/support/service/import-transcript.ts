import { randomUUID } from "node:crypto";
import type { ImportedTranscript } from "../../../domain/sessions/import/import-transcript.ts";
import type { RestClient } from "../clients/rest-client.ts";
import { mainAgentId } from "./main-agent.ts";

export interface ImportResponse {
  status: number;
  /** Of a response without an error. */
  body: ImportedTranscript & { error?: string };
}

export interface ImportOptions {
  /** By default the main agent. */
  agentId?: string;
  query?: string;
  contentType?: string;
}

/** Sends a transcript file as the body of a request. */
export async function importFile(
  rest: RestClient,
  file: string | Buffer<ArrayBuffer>,
  { agentId, query = "", contentType = "application/x-ndjson" }: ImportOptions = {},
): Promise<ImportResponse> {
  const path = `/v1/agents/${agentId ?? (await mainAgentId(rest))}/sessions/import${query}`;
  const { status, body } = await rest.send("POST", path, { body: file, headers: { "content-type": contentType } });
  return { status, body: body as unknown as ImportResponse["body"] };
}

/** A transcript of Claude Code with a session of its own. */
export function claudeFile(
  count: number,
  { session = randomUUID(), content = "Hello" }: { session?: string; content?: string } = {},
): string {
  return Array.from({ length: count }, (_, index) => {
    const usage = { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 };
    const message = { id: `msg_${index}`, role: "assistant", model: "claude", content, usage };
    return `${JSON.stringify({ type: "assistant", sessionId: session, uuid: `u${index}`, message })}\n`;
  }).join("");
}
