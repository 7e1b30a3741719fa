import {
  AgentHostError,
  type HostedEntry,
  type HostedTranscript,
  type ReadTranscript,
} from "../../../../domain/ports/agent-host.ts";
import type { GatewayConnection } from "./gateway-connection.ts";
import type { GatewayHistory } from "./gateway-schemas.ts";
import { toHostedEntries } from "./hosted-entries.ts";

/** Of an entry, and of all entries of a page, so that a response stays within the largest message that is read. */
const MAX_CHARACTERS = { entry: 20_000, page: 1_000_000 };

/**
 * A gateway shows the text and the tool calls of one message as several messages. At the end of a transcript it counts these,
 * and begins a page in the middle of a message. So many more are read there, to leave out the beginning of the page.
 */
const MARGIN = 20;

/** Reads the newest entries of a session, or those before a seq: the newest first. */
export async function readHistory(
  connection: GatewayConnection,
  { sessionId: sessionKey, limit, before, maxCharacters }: ReadTranscript,
  signal: AbortSignal,
): Promise<HostedTranscript> {
  const maxChars = Math.min(maxCharacters, MAX_CHARACTERS.entry, Math.floor(MAX_CHARACTERS.page / (limit + MARGIN)));
  const read = async (page: { limit: number; offset?: number }): Promise<GatewayHistory> => {
    const params = { sessionKey, maxChars, ...page };
    return checkSession(await connection.request("chat.history", params, signal));
  };
  const readEnd = async () => takeWhole(toTranscript(await read({ limit: limit + MARGIN }), 0, maxChars), limit);
  if (before === undefined) return readEnd();
  // A gateway counts from the newest message, so the position of a seq depends on the total.
  const { totalMessages } = await read({ limit: 1 });
  const offset = Math.max(0, (totalMessages ?? 0) - before + 1);
  if (offset >= (totalMessages ?? 0)) return { entries: [], hasMore: false };
  const page = offset === 0 ? await readEnd() : toTranscript(await read({ limit, offset }), offset, maxChars);
  // Messages that were added between the two requests.
  return { ...page, entries: page.entries.filter(({ seq }) => seq < before) };
}

/** Takes at least `limit` entries from the end of a transcript, and all entries of each seq. */
function takeWhole({ entries, hasMore }: HostedTranscript, limit: number): HostedTranscript {
  const messages = [...Map.groupBy(entries, ({ seq }) => seq).values()];
  if (hasMore && messages.length > 1) messages.pop();
  const taken: HostedEntry[] = [];
  for (const message of messages) if (taken.length < limit) taken.push(...message);
  return { entries: taken, hasMore: hasMore || taken.length < entries.length };
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
