import { Link } from "@tanstack/react-router";
import { useOrganization } from "../../organization.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import type { Entry } from "./transcript-items.ts";

interface TranscriptSearchProps {
  sessionId: string;
  serverId: string | undefined;
  words: string;
  entries: Entry[];
  /** Whether earlier entries are still being loaded. */
  isLoading: boolean;
}

/** The entries of a transcript that contain a text, the newest first. */
export function TranscriptSearch({ sessionId, serverId, words, entries, isLoading }: TranscriptSearchProps) {
  const { id: orgId } = useOrganization();
  const hits = entries.filter(({ content }) => indexOf(content, words) >= 0).toReversed();
  const count = hits.length === 1 ? "1 entry" : `${hits.length.toLocaleString("en")} entries`;
  return (
    <section aria-label="Entries found" className="space-y-3">
      <p role="status" className="text-sm text-muted">
        {isLoading ? `Searching. ${count} so far…` : count}
      </p>
      {hits.length === 0 && !isLoading && (
        <EmptyState>
          <p>No entry contains this text. Try fewer words.</p>
        </EmptyState>
      )}
      <ol className="space-y-3">
        {hits.map(({ seq, role, content, tool }) => (
          <li key={`${seq} ${tool?.call_id ?? tool?.name ?? ""}`} className="text-sm">
            <Link
              to="/sessions/$id"
              params={{ id: sessionId }}
              search={{ org: orgId, server: serverId, entry: seq }}
              className="underline"
            >
              Entry {seq}
            </Link>{" "}
            <span className="text-muted">{tool === undefined ? role : `${role}: ${tool.name}`}</span>
            <p className="wrap-anywhere">{markFirst(content, words)}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

const CONTEXT_CHARACTERS = 80;

function indexOf(content: string, words: string): number {
  return content.toLowerCase().indexOf(words.toLowerCase());
}

function markFirst(content: string, words: string): React.ReactNode {
  const start = indexOf(content, words);
  const end = start + words.length;
  const from = Math.max(0, start - CONTEXT_CHARACTERS);
  const to = Math.min(content.length, end + CONTEXT_CHARACTERS);
  return (
    <>
      {from > 0 && "…"}
      {content.slice(from, start)}
      <mark>{content.slice(start, end)}</mark>
      {content.slice(end, to)}
      {to < content.length && "…"}
    </>
  );
}
