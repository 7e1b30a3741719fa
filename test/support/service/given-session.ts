import type { SessionView } from "../../../domain/sessions/session-view.ts";
import type { NewEntry } from "../../../domain/sessions/transcript-entry.ts";
import type { RestClient } from "../clients/rest-client.ts";
import { mainAgentId } from "./main-agent.ts";

export interface GivenSession {
  agentId?: string;
  externalId?: string;
  title?: string;
  entries?: readonly NewEntry[];
}

let sessions = 0;

/** Opens a session, of the main agent if no other is given, and appends entries to it. */
export async function givenSession(
  rest: RestClient,
  { agentId, externalId = `session-${++sessions}`, title, entries = [] }: GivenSession = {},
): Promise<SessionView> {
  const path = `/v1/agents/${agentId ?? (await mainAgentId(rest))}/sessions`;
  const opened = await rest.post(path, { external_id: externalId, ...(title !== undefined && { title }) });
  if (opened.status !== 201) throw new Error(`the session was not opened: ${opened.text}`);
  const { session_id: id } = opened.body as unknown as SessionView;
  for (let start = 0; start < entries.length; start += 1000) {
    const appended = await rest.post(`/v1/sessions/${id}/entries`, { entries: entries.slice(start, start + 1000) });
    if (appended.status !== 200) throw new Error(`the entries were not appended: ${appended.text}`);
  }
  return (await rest.get(`/v1/sessions/${id}`)).body as unknown as SessionView;
}

/** Messages with the ids `e1`, `e2` and so on, each with 1 + 2 + 3 + 4 tokens. */
export function sampleEntries(count: number, first = 1): NewEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `e${first + index}`,
    role: "assistant",
    content: `Message ${first + index}`,
    usage: { input: 1, output: 2, cache_read: 3, cache_write: 4 },
  }));
}
