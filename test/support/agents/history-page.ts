interface Message {
  role?: string;
  content?: unknown;
}

/**
 * Returns a page of a transcript as the method `chat.history` of version 2026.9.6 does. It shows the text and the tool calls of
 * a message as two messages. At the end of the transcript it counts these, and cuts the oldest message of the page. Before the
 * end, a page has whole messages.
 */
export function historyPage(stored: readonly Message[], limit: number, offset: number) {
  if (offset === 0) {
    const shown = stored.flatMap(toShown);
    const hasMore = shown.length > limit;
    return { messages: shown.slice(-limit), hasMore, ...(hasMore && { nextOffset: limit }) };
  }
  const end = stored.length - offset;
  let start = end;
  let count = 0;
  while (start > 0) {
    const size = toShown(stored[start - 1]!).length;
    if (start < end && count + size > limit) break;
    count += size;
    start -= 1;
  }
  const hasMore = start > 0;
  const messages = stored.slice(Math.max(0, start), Math.max(0, end)).flatMap(toShown);
  return { messages, hasMore, ...(hasMore && { nextOffset: stored.length - start }) };
}

function toShown(message: Message): Message[] {
  if (!Array.isArray(message.content)) return [message];
  const isCall = (block: unknown): boolean => (block as { type?: unknown } | null)?.type === "toolCall";
  const calls = message.content.filter(isCall);
  const others = message.content.filter((block) => !isCall(block));
  if (calls.length === 0 || others.length === 0) return [message];
  return [
    { ...message, content: others },
    { ...message, content: calls },
  ];
}
