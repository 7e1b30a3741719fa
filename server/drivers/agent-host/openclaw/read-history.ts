import { AgentHostError, type HostedTranscript, type ReadTranscript } from "../../../../domain/ports/agent-host.ts";
import type { GatewayConnection } from "./gateway-connection.ts";
import { type GatewayHistory, history } from "./gateway-shapes.ts";
import { toHostedEntries } from "./hosted-entries.ts";

/** Of an entry, and of all entries of a page, so that a response stays within the largest message that is read. */
const MAX_CHARACTERS = { entry: 20_000, page: 1_000_000 };

/** Reads the newest entries of a session, or those before a seq: the newest first. */
export async function readHistory(
  connection: GatewayConnection,
  { sessionId: sessionKey, limit, before, maxCharacters }: ReadTranscript,
  signal: AbortSignal,
): Promise<HostedTranscript> {
  const maxChars = Math.min(maxCharacters, MAX_CHARACTERS.entry, Math.floor(MAX_CHARACTERS.page / limit));
  const read = async (page: { limit: number; offset?: number }): Promise<GatewayHistory> => {
    const params = { sessionKey, maxChars, ...page };
    return checkSession(await connection.request("chat.history", params, history, signal));
  };
  if (before === undefined) return toTranscript(await read({ limit }), 0, maxChars);
  // A gateway counts from the newest message, so the position of a seq depends on the total.
  const { totalMessages } = await read({ limit: 1 });
  const offset = Math.max(0, (totalMessages ?? 0) - before + 1);
  if (offset >= (totalMessages ?? 0)) return { entries: [], hasMore: false };
  const { entries, hasMore } = toTranscript(await read({ limit, ...(offset > 0 && { offset }) }), offset, maxChars);
  // Messages that were added between the two requests.
  return { entries: entries.filter(({ seq }) => seq < before), hasMore };
}

function checkSession(page: GatewayHistory): GatewayHistory {
  if (typeof page.sessionId === "string" || page.messages.length > 0) return page;
  throw new AgentHostError("not_found", "The gateway has no such session.");
}

/** @param offset - the number of newer messages */
function toTranscript(page: GatewayHistory, offset: number, maxCharacters: number): HostedTranscript {
  const total = page.totalMessages ?? offset + page.messages.length;
  const newestFirst = page.messages.toReversed();
  const entries = newestFirst.flatMap((message, index) =>
    toHostedEntries(
      message,
      message.__openclaw?.seq ?? Math.max(1, total - offset - index),
      maxCharacters,
    ).toReversed(),
  );
  return { entries, hasMore: page.hasMore ?? offset + page.messages.length < total };
}
