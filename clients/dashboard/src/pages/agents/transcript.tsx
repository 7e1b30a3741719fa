import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { formatError } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { usePathParameter } from "../../page-params.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { Field } from "../../ui/field.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { TranscriptEntries } from "./transcript-entries.tsx";
import { TranscriptSearch } from "./transcript-search.tsx";

interface TranscriptProps {
  sessionId: string;
  serverId: string | undefined;
  /** The seq of the last entry to show; `null` for the end of the transcript. */
  lastEntry: number | null;
}

/** A session with its transcript, from its end or from an entry backwards. */
export function TranscriptPage() {
  const sessionId = usePathParameter("id");
  const { server, entry } = useLocation().search as Record<string, unknown>;
  const serverId = typeof server === "string" ? server : undefined;
  const lastEntry = typeof entry === "number" && Number.isSafeInteger(entry) && entry > 0 ? entry : null;
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
        {serverId === undefined && session.data !== undefined && (
          <DeleteSession id={sessionId} agentId={session.data.agent_id} />
        )}
        {/* A link to an entry ends the search. */}
        <Transcript key={lastEntry} sessionId={sessionId} serverId={serverId} lastEntry={lastEntry} />
      </Panel>
    </>
  );
}

function DeleteSession({ id, agentId }: { id: string; agentId: string }) {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => api.sessions.delete.mutate({ id }),
    onSuccess: async () => {
      showToast("The session is deleted.");
      await navigate({ to: "/agents/$id", params: { id: agentId }, search: { org: orgId } });
      await client.invalidateQueries({ queryKey: ["sessions", orgId] });
    },
    onError: (error) => showToast("The session was not deleted.", formatError(error)),
  });
  return (
    <ConfirmButton
      label="Delete session"
      question="Delete this session?"
      typed="session"
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      Its transcript is deleted. What the agent stored in its memory stays. This cannot be undone.
    </ConfirmButton>
  );
}

function Transcript({ sessionId, serverId, lastEntry }: TranscriptProps) {
  const { id: orgId } = useOrganization();
  const [words, setWords] = useState("");
  const transcript = useTranscript({ sessionId, serverId, lastEntry });
  const { hasNextPage, isFetching, error, fetchNextPage } = transcript;
  const isSearching = words !== "";
  useEffect(() => {
    // A search needs all entries.
    if (isSearching && hasNextPage && !isFetching && error === null) void fetchNextPage();
  }, [isSearching, hasNextPage, isFetching, error, fetchNextPage]);
  const place = { sessionId, serverId };
  return (
    <>
      <Field
        label="Search in this transcript"
        type="search"
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      {hasNextPage && !isSearching && (
        <Button busy={transcript.isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load earlier entries
        </Button>
      )}
      <QueryContent query={transcript}>
        {(entries) =>
          isSearching ? (
            <TranscriptSearch {...place} words={words} entries={entries} isLoading={hasNextPage && error === null} />
          ) : (
            <TranscriptEntries {...place} linked={lastEntry} entries={entries} />
          )
        }
      </QueryContent>
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

/** The entries of a transcript, from its end or from an entry backwards. */
function useTranscript({ sessionId, serverId, lastEntry }: TranscriptProps) {
  const { id: orgId, api } = useOrganization();
  return useInfiniteQuery({
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
}
