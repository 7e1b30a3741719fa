import type { Api } from "../../api.ts";

export type Entry = Awaited<ReturnType<Api["sessions"]["transcript"]["query"]>>["entries"][number];

/** A message, or a tool call with its result. */
export type TranscriptItem =
  | { kind: "message"; entry: Entry }
  /** One of them is `null` if it is not among the entries that are loaded. */
  | { kind: "tool"; call: Entry | null; result: Entry | null };

type ToolItem = TranscriptItem & { kind: "tool" };

/** Puts each tool result to its call. */
export function toItems(entries: readonly Entry[]): TranscriptItem[] {
  const items: TranscriptItem[] = [];
  const calls = new Map<string, ToolItem>();
  for (const entry of entries) {
    if (entry.role === "tool") {
      const call = findCall(entry, calls, items.at(-1));
      if (call === undefined) items.push({ kind: "tool", call: null, result: entry });
      else call.result = entry;
    } else if (entry.tool === undefined) items.push({ kind: "message", entry });
    else {
      const item: ToolItem = { kind: "tool", call: entry, result: null };
      items.push(item);
      if (entry.tool.call_id !== undefined) calls.set(entry.tool.call_id, item);
    }
  }
  return items;
}

/** Finds the call of a result by its id. Without ids, it is the call directly before. */
function findCall(
  { tool }: Entry,
  calls: ReadonlyMap<string, ToolItem>,
  last: TranscriptItem | undefined,
): ToolItem | undefined {
  const found = tool?.call_id === undefined ? last : calls.get(tool.call_id);
  if (found?.kind !== "tool" || found.result !== null) return undefined;
  const isSame = tool === undefined || found.call?.tool?.name === tool.name || tool.call_id !== undefined;
  return isSame ? found : undefined;
}

/** The entries of an item. */
export function entriesOf(item: TranscriptItem): Entry[] {
  if (item.kind === "message") return [item.entry];
  return [item.call, item.result].filter((entry) => entry !== null);
}
