import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SubmitEvent } from "react";
import { type Api, sendFile } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field } from "../../ui/field.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { SessionSearch } from "./session-search.tsx";

type Session = Awaited<ReturnType<Api["sessions"]["list"]["query"]>>["sessions"][number];

const COLUMNS = ["Title", "Updated", "Entries", "Input tokens", "Output tokens", "All tokens"];

interface AgentSessionsProps {
  agentId: string;
  serverId: string;
  /** Whether a gateway keeps the sessions. */
  isHosted: boolean;
}

/** The sessions of an agent with their token counters, the latest updated first. */
export function AgentSessions({ agentId, serverId, isHosted }: AgentSessionsProps) {
  const { id: orgId, api } = useOrganization();
  const filter = { agent_id: agentId, server_id: serverId };
  const sessions = useInfiniteQuery({
    queryKey: ["sessions", orgId, agentId],
    queryFn: ({ pageParam }) => api.sessions.list.query(pageParam === null ? filter : { ...filter, cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.sessions),
  });
  return (
    <Panel title="Sessions" intro="The latest updated first.">
      <QueryContent query={sessions}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState>
              <p>
                No sessions yet.
                {!isHosted && " Programs store them through the REST API. You can also import transcripts."}
              </p>
            </EmptyState>
          ) : (
            <Table caption="Sessions of the agent" columns={COLUMNS}>
              {list.map((session) => (
                <SessionRow
                  key={session.session_id}
                  session={session}
                  maxTokens={Math.max(...list.map(({ tokens }) => tokens.total))}
                />
              ))}
            </Table>
          )
        }
      </QueryContent>
      {sessions.hasNextPage && (
        <Button busy={sessions.isFetchingNextPage} onClick={() => void sessions.fetchNextPage()}>
          Load older sessions
        </Button>
      )}
      {!isHosted && (
        <>
          <SessionSearch agentId={agentId} serverId={serverId} />
          <ImportTranscript agentId={agentId} />
        </>
      )}
    </Panel>
  );
}

/** @param props.maxTokens - of the sessions in the list */
function SessionRow({ session, maxTokens }: { session: Session; maxTokens: number }) {
  const { session_id: id, server_id: server, title, updated_at: updatedAt, message_count: entries, tokens } = session;
  const { id: orgId } = useOrganization();
  return (
    <Row>
      <Cell>
        <Link to="/sessions/$id" params={{ id }} search={{ org: orgId, server }} className="underline">
          {title ?? "Untitled session"}
        </Link>
      </Cell>
      <Cell>
        <Timestamp at={updatedAt} />
      </Cell>
      <Cell>{entries?.toLocaleString("en") ?? "unknown"}</Cell>
      <Cell>{tokens.input.toLocaleString("en")}</Cell>
      <Cell>{tokens.output.toLocaleString("en")}</Cell>
      <Cell>
        {tokens.total.toLocaleString("en")}
        <TokenBar tokens={tokens} max={maxTokens} />
      </Cell>
    </Row>
  );
}

/** Compares the tokens of sessions. The part of the output has another color. */
function TokenBar({ tokens: { output, total }, max }: { tokens: Session["tokens"]; max: number }) {
  if (max === 0) return null;
  const percent = (count: number): string => `${(100 * count) / max}%`;
  return (
    <div aria-hidden className="mt-1 flex h-1 w-24 overflow-hidden rounded-full bg-sunken">
      <div className="bg-accent" style={{ width: percent(total - output) }} />
      <div className="bg-success" style={{ width: percent(output) }} />
    </div>
  );
}

type Imported = Awaited<ReturnType<Api["sessions"]["import"]["mutate"]>>;

const HINT =
  "The file of a session of Claude Code, Codex, Cursor, Gemini CLI, OpenClaw or opencode. A file can be imported again: only new entries are added.";

/** Imports a transcript that a coding agent has written. */
function ImportTranscript({ agentId }: { agentId: string }) {
  const client = useQueryClient();
  const { id: orgId } = useOrganization();
  const importing = useMutation({
    mutationFn: (file: File) => sendFile<Imported>(orgId, `/v1/agents/${agentId}/sessions/import`, file),
    onSuccess: () => client.invalidateQueries({ queryKey: ["sessions", orgId, agentId] }),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const file = new FormData(event.currentTarget).get("file");
    if (file instanceof File) importing.mutate(file);
  };
  return (
    <>
      <form
        aria-label="Import a transcript"
        className="grid items-start gap-4 sm:grid-cols-[1fr_auto]"
        onSubmit={submit}
      >
        <Field
          label="Transcript of a coding agent"
          hint={HINT}
          name="file"
          type="file"
          accept=".jsonl,.json,.md"
          className="py-1"
          required
        />
        <Button type="submit" className="sm:mt-6" busy={importing.isPending}>
          Import transcript
        </Button>
      </form>
      <ErrorNotice error={importing.error} />
      {importing.data !== undefined && <Notice variant="success">{describe(importing.data)}</Notice>}
    </>
  );
}

function describe({ added, existing, is_cut: isCut }: Imported): string {
  const count = `${added.toLocaleString("en")} new entries, ${existing.toLocaleString("en")} existed already.`;
  return isCut ? `${count} The end of the file is incomplete and was left out.` : count;
}
