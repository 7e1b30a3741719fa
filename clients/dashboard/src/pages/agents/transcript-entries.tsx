import { Link } from "@tanstack/react-router";
import { ChevronRight, Wrench } from "lucide-react";
import { lazy, Suspense } from "react";
import { useOrganization } from "../../organization.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Preformatted } from "../../ui/preformatted.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { entriesOf, type Entry, toItems, type TranscriptItem } from "./transcript-items.ts";

const MarkdownText = lazy(async () => ({ default: (await import("../../ui/markdown-text.tsx")).MarkdownText }));

/** Longer texts are shown as they are. */
const MARKDOWN_CHARACTERS = 50_000;

interface TranscriptPlace {
  sessionId: string;
  serverId: string | undefined;
  /** The seq of the entry that the URL names; `null` without one. */
  linked: number | null;
}

/** The entries of a transcript as a conversation. */
export function TranscriptEntries({ entries, ...place }: TranscriptPlace & { entries: Entry[] }) {
  if (entries.length === 0)
    return (
      <EmptyState>
        <p>This session has no entries yet.</p>
      </EmptyState>
    );
  return (
    <ol className="space-y-4">
      {toItems(entries).map((item) => (
        <Item key={keyOf(item)} item={item} place={place} />
      ))}
    </ol>
  );
}

/** In OpenClaw, a message and its tool calls have the same seq. */
function keyOf(item: TranscriptItem): string {
  const [first] = entriesOf(item);
  return `${first?.seq} ${first?.tool?.call_id ?? first?.tool?.name ?? ""}`;
}

function Item({ item, place }: { item: TranscriptItem; place: TranscriptPlace }) {
  const isLinked = entriesOf(item).some(({ seq }) => seq === place.linked);
  return (
    <li
      ref={isLinked ? scrollTo : null}
      className={`min-w-0 ${isLinked ? "rounded-md outline-2 outline-offset-4 outline-focus" : ""}`}
    >
      {item.kind === "message" ? (
        <Message entry={item.entry} place={place} />
      ) : (
        <ToolCall item={item} isOpen={isLinked} place={place} />
      )}
    </li>
  );
}

const scrollTo = (element: HTMLElement | null): void => element?.scrollIntoView({ block: "center" });

const ROLE_NAMES = { user: "User", assistant: "Agent", system: "System", tool: "Tool" } as const;

function Message({ entry, place }: { entry: Entry; place: TranscriptPlace }) {
  const { role, content } = entry;
  return (
    <div
      className={`space-y-1 ${role === "user" ? "ml-auto w-fit max-w-full rounded-lg bg-sunken px-3 py-2 sm:max-w-[85%]" : "sm:mr-12"}`}
    >
      <p className="flex flex-wrap items-baseline gap-x-3 text-sm">
        <strong className="font-medium">{ROLE_NAMES[role]}</strong>
        <EntryDetails entry={entry} place={place} />
      </p>
      {content.length > MARKDOWN_CHARACTERS ? (
        <Preformatted label={`Entry ${entry.seq}`} text={content} />
      ) : (
        <Suspense fallback={<p className="whitespace-pre-wrap wrap-anywhere">{content}</p>}>
          <MarkdownText text={content} />
        </Suspense>
      )}
    </div>
  );
}

function EntryDetails({
  entry: { seq, model, created_at: createdAt },
  place,
}: {
  entry: Entry;
  place: TranscriptPlace;
}) {
  const { id: orgId } = useOrganization();
  return (
    <span className="flex flex-wrap gap-x-3 text-xs text-muted">
      <Timestamp at={createdAt} never="unknown time" />
      {model !== undefined && <span className="wrap-anywhere">{model}</span>}
      <Link
        to="/sessions/$id"
        params={{ id: place.sessionId }}
        search={{ org: orgId, server: place.serverId, entry: seq }}
        aria-label={`Link to entry ${seq}`}
        className="hover:text-ink hover:underline"
      >
        #{seq}
      </Link>
    </span>
  );
}

interface ToolCallProps {
  item: TranscriptItem & { kind: "tool" };
  isOpen: boolean;
  place: TranscriptPlace;
}

/** A tool call, folded to its name. */
function ToolCall({ item, isOpen, place }: ToolCallProps) {
  const { call, result } = item;
  const name = call?.tool?.name ?? result?.tool?.name ?? "Tool";
  const [entry] = entriesOf(item);
  const isFailed = result?.tool?.is_error === true;
  return (
    <details open={isOpen} className="group rounded-md border border-line sm:mr-12">
      <summary className="flex list-none items-center gap-2 rounded-md px-3 py-1.5 text-sm hover:bg-hover">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 text-muted transition-transform group-open:rotate-90 motion-reduce:transition-none"
        />
        <Wrench aria-hidden className="size-3.5 shrink-0 text-muted" />
        <span className="min-w-0 font-mono wrap-anywhere">{name}</span>
        {isFailed && <span className="text-danger">failed</span>}
      </summary>
      <div className="space-y-3 border-t border-line px-3 py-2">
        {entry !== undefined && <EntryDetails entry={entry} place={place} />}
        {call !== null && <ToolText title="Input" name={name} text={formatJson(call.content)} />}
        {result === null ? (
          <p className="text-sm text-muted">The result is not among the entries shown.</p>
        ) : (
          <ToolText title="Result" name={name} text={formatJson(result.content)} />
        )}
      </div>
    </details>
  );
}

function ToolText({ title, name, text }: { title: string; name: string; text: string }) {
  return (
    <div>
      <p className="pb-1 text-xs text-muted">{title}</p>
      {text === "" ? (
        <p className="text-sm text-muted">Empty</p>
      ) : (
        <Preformatted label={`${title} of ${name}`} text={text} />
      )}
    </div>
  );
}

/** Indents JSON. Other text stays as it is. */
function formatJson(text: string): string {
  if (text.length > MARKDOWN_CHARACTERS || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
