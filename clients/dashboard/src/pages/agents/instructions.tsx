import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useId } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { TEXT_AREA_CLASS } from "../../ui/field.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Table } from "../../ui/table.tsx";
import { VersionRow } from "../../ui/version-row.tsx";

type Instructions = Awaited<ReturnType<Api["instructions"]["get"]["query"]>>;
type Revision = Awaited<ReturnType<Api["instructions"]["revisions"]["query"]>>["revisions"][number];

const COLUMNS = ["Revision", "Stored", "Size", "Actions"];

const instructionsKey = (orgId: string, agentId: string) => ["instructions", orgId, agentId];

/** The AGENTS.md of an agent, with its earlier versions. */
export function InstructionsPanel({ agentId }: { agentId: string }) {
  const { id: orgId, api } = useOrganization();
  const instructions = useQuery({
    queryKey: [...instructionsKey(orgId, agentId), "current"],
    queryFn: () => api.instructions.get.query({ id: agentId }),
  });
  return (
    <Panel title="Instructions" intro="The AGENTS.md of the agent. Every version is kept: the newest 200.">
      <QueryContent query={instructions}>
        {/* The key shows the new content after a change. */}
        {(data) => <InstructionsForm key={data.content_hash} instructions={data} />}
      </QueryContent>
      <Revisions agentId={agentId} current={instructions.data?.revision ?? 0} />
    </Panel>
  );
}

function InstructionsForm({ instructions }: { instructions: Instructions }) {
  const { agent_id: agentId, content, content_hash: contentHash, revision } = instructions;
  const field = useId();
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const replace = useMutation({
    mutationFn: (form: FormData) =>
      api.instructions.replace.mutate({
        id: agentId,
        content: readLines(form, "content"),
        expected_hash: contentHash,
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: instructionsKey(orgId, agentId) }),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    replace.mutate(new FormData(event.currentTarget));
  };
  return (
    <form className="space-y-4" onSubmit={submit}>
      <label htmlFor={field} className="text-sm font-medium">
        AGENTS.md
      </label>
      <textarea id={field} name="content" rows={14} className={TEXT_AREA_CLASS} defaultValue={content} />
      <div className="flex flex-wrap items-center gap-4">
        <Button type="submit" variant="primary" busy={replace.isPending}>
          Save instructions
        </Button>
        {revision > 0 && <span className="text-sm">Revision {revision}</span>}
      </div>
      <ErrorNotice error={replace.error} />
      {replace.data?.diff === null && <Notice>The content is the same as before.</Notice>}
    </form>
  );
}

/** Returns the text of a field. A form ends each line with CR LF. */
function readLines(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.replaceAll("\r\n", "\n") : "";
}

function Revisions({ agentId, current }: { agentId: string; current: number }) {
  const { id: orgId, api } = useOrganization();
  const revisions = useInfiniteQuery({
    queryKey: [...instructionsKey(orgId, agentId), "revisions"],
    queryFn: ({ pageParam }) =>
      api.instructions.revisions.query({ id: agentId, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.revisions),
  });
  return (
    <QueryContent query={revisions}>
      {(list) =>
        list.length > 0 && (
          <>
            <Table caption="Revisions of the instructions" columns={COLUMNS}>
              {list.map((revision) => (
                <RevisionRow key={revision.number} agentId={agentId} revision={revision} current={current} />
              ))}
            </Table>
            {revisions.hasNextPage && (
              <Button busy={revisions.isFetchingNextPage} onClick={() => void revisions.fetchNextPage()}>
                Load older revisions
              </Button>
            )}
          </>
        )
      }
    </QueryContent>
  );
}

function RevisionRow({ agentId, revision, current }: { agentId: string; revision: Revision; current: number }) {
  const { number, created_at: createdAt, size_bytes: size, reverted_to: restored } = revision;
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const restore = useMutation({
    mutationFn: () => api.instructions.revert.mutate({ id: agentId, number }),
    onSuccess: () => client.invalidateQueries({ queryKey: instructionsKey(orgId, agentId) }),
  });
  const isCurrent = number === current;
  return (
    <VersionRow {...{ noun: "revision", number, restored, createdAt, isCurrent, restore, content: "content" }}>
      <Cell>{size} bytes</Cell>
    </VersionRow>
  );
}
