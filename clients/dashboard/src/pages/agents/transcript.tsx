import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Preformatted } from "../../ui/preformatted.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

type Entry = Awaited<ReturnType<Api["sessions"]["transcript"]["query"]>>["entries"][number];

interface TranscriptPageProps {
  sessionId: string;
  serverId: string | undefined;
  /** The seq of the last entry to show; `null` for the end of the transcript. */
  lastEntry: number | null;
}

/** A session with its transcript, from its end or from an entry backwards. */
export function TranscriptPage({ sessionId, serverId, lastEntry }: TranscriptPageProps) {
  const { id: orgId, api } = useOrganization();
  const session = useQuery({
    queryKey: ["session", orgId, sessionId],
    queryFn: () => api.sessions.get.query({ id: sessionId }),
  });
  return (
    <>
      <PageTitle>Transcript</PageTitle>
      <p className="text-sm">
        {session.data === undefined ? (
          <Link to="/agents" search={{ org: orgId }} className="underline">
            All agents
          </Link>
        ) : (
          <Link to="/agents/$id" params={{ id: session.data.agent_id }} search={{ org: orgId }} className="underline">
            The agent of this session
          </Link>
        )}
      </p>
      <Panel title={session.data?.title ?? "Untitled session"}>
        <Transcript sessionId={sessionId} serverId={serverId} lastEntry={lastEntry} />
      </Panel>
    </>
  );
}

function Transcript({ sessionId, serverId, lastEntry }: TranscriptPageProps) {
  const { id: orgId, api } = useOrganization();
  const transcript = useInfiniteQuery({
    queryKey: ["transcript", orgId, serverId, sessionId, lastEntry],
    queryFn: ({ pageParam }) =>
      api.sessions.transcript.query({
        id: sessionId,
        // A session in OpenClaw is found only on its server.
        ...(serverId !== undefined && { server_id: serverId }),
        ...(pageParam !== null && { before: pageParam }),
      }),
    initialPageParam: lastEntry === null ? null : lastEntry + 1,
    getNextPageParam: ({ before }) => before,
    // The newest page comes first.
    select: ({ pages }) => pages.toReversed().flatMap((page) => page.entries),
  });
  return (
    <>
      {transcript.hasNextPage && (
        <Button busy={transcript.isFetchingNextPage} onClick={() => void transcript.fetchNextPage()}>
          Load earlier entries
        </Button>
      )}
      <QueryContent query={transcript}>{(entries) => <Entries entries={entries} />}</QueryContent>
      {lastEntry !== null && (
        <p className="text-sm">
          <Link
            to="/sessions/$id"
            params={{ id: sessionId }}
            search={{ org: orgId, server: serverId }}
            className="underline"
          >
            Go to the end of the transcript
          </Link>
        </p>
      )}
    </>
  );
}

function Entries({ entries }: { entries: Entry[] }) {
  if (entries.length === 0)
    return (
      <EmptyState>
        <p>This session has no entries yet.</p>
      </EmptyState>
    );
  return (
    <ol className="space-y-4">
      {entries.map((entry) => (
        // In OpenClaw, a message and its tool calls have the same seq.
        <EntryItem key={`${entry.seq} ${entry.tool?.call_id ?? entry.tool?.name ?? ""}`} entry={entry} />
      ))}
    </ol>
  );
}

function EntryItem({ entry: { seq, role, content, tool, created_at: createdAt } }: { entry: Entry }) {
  return (
    <li className="space-y-1">
      <p className="flex flex-wrap gap-x-3 text-sm">
        <strong>{tool === undefined ? role : `${role}: ${tool.name}`}</strong>
        {tool?.is_error === true && <span>failed</span>}
        <Timestamp at={createdAt} never="unknown time" />
      </p>
      <Preformatted label={`Entry ${seq}`} text={content} />
    </li>
  );
}
