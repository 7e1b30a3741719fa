import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field } from "../../ui/field.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

type Hit = Awaited<ReturnType<Api["sessions"]["search"]["query"]>>["hits"][number];

interface SessionSearchProps {
  agentId: string;
  serverId: string;
}

/** Finds entries of an agent's transcripts by their words. */
export function SessionSearch({ agentId, serverId }: SessionSearchProps) {
  const [words, setWords] = useState("");
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get("words");
    if (typeof text === "string") setWords(text.trim());
  };
  return (
    <>
      <search>
        <form className="grid items-start gap-4 sm:grid-cols-[1fr_auto]" onSubmit={submit}>
          <Field label="Words in the transcripts" hint='Also "a phrase", or, and -word' name="words" type="search" />
          <Button type="submit" className="sm:mt-6">
            Search transcripts
          </Button>
        </form>
      </search>
      {words !== "" && <SearchResults agentId={agentId} serverId={serverId} words={words} />}
    </>
  );
}

function SearchResults({ agentId, serverId, words }: SessionSearchProps & { words: string }) {
  const { id: orgId, api } = useOrganization();
  const request = { q: words, agent_id: agentId, server_id: serverId };
  const hits = useInfiniteQuery({
    queryKey: ["session-search", orgId, agentId, words],
    queryFn: ({ pageParam }) =>
      api.sessions.search.query(pageParam === null ? request : { ...request, cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.hits),
  });
  return (
    <section aria-label="Search results" className="space-y-4">
      <QueryContent query={hits}>
        {(list) =>
          list.length === 0 && !hits.hasNextPage ? (
            <EmptyState>
              <p>No entry contains these words.</p>
            </EmptyState>
          ) : (
            <ol className="space-y-4">
              {list.map((hit) => (
                <SearchHit key={`${hit.session_id} ${hit.seq}`} hit={hit} serverId={serverId} />
              ))}
            </ol>
          )
        }
      </QueryContent>
      {hits.hasNextPage && (
        <Button busy={hits.isFetchingNextPage} onClick={() => void hits.fetchNextPage()}>
          Search older entries
        </Button>
      )}
    </section>
  );
}

function SearchHit({ hit, serverId }: { hit: Hit; serverId: string }) {
  const { session_id: id, title, seq, role, created_at: createdAt, excerpt, matches } = hit;
  const { id: orgId } = useOrganization();
  return (
    <li className="space-y-1 text-sm">
      <p className="flex flex-wrap gap-x-3">
        <Link
          to="/sessions/$id"
          params={{ id }}
          search={{ org: orgId, server: serverId, entry: seq }}
          className="underline"
        >
          {title ?? "Untitled session"}, entry {seq}
        </Link>
        <span>{role}</span>
        <Timestamp at={createdAt} />
      </p>
      <p className="break-words">{markMatches(excerpt, matches)}</p>
    </li>
  );
}

function markMatches(excerpt: string, matches: Hit["matches"]): React.ReactNode[] {
  const parts: React.ReactNode[] = [];
  let at = 0;
  for (const { start, end } of matches) {
    parts.push(excerpt.slice(at, start), <mark key={start}>{excerpt.slice(start, end)}</mark>);
    at = end;
  }
  return [...parts, excerpt.slice(at)];
}
