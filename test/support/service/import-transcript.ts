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
