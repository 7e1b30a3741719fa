import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import type { Api } from "../../api.ts";
import { downloadFile } from "../../download-file.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field, readText, Select } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { RequireRole } from "../../ui/require-role.tsx";
import { Table } from "../../ui/table.tsx";
import { memoriesKey, type Memory, MEMORY_KIND_OPTIONS, type MemoryKind, MemoryRow } from "./memory-row.tsx";

const COLUMNS = ["Memory", "Kind", "Stored", "Actions"];

/** Which memories are shown. */
interface Filter {
  words: string;
  kind: MemoryKind | undefined;
}

/** What an agent remembers: a list with a search, in which memories are corrected and deleted. */
export function AgentMemories({ agentId }: { agentId: string }) {
  const [filter, setFilter] = useState<Filter>({ words: "", kind: undefined });
  return (
    <Panel
      title="Memory"
      intro="Preferences, commitments and facts that the agent has saved with its tool memory_write."
    >
      <FilterForm onFilter={setFilter} />
      {filter.words === "" ? (
        <AllMemories agentId={agentId} kind={filter.kind} />
      ) : (
        <FoundMemories agentId={agentId} words={filter.words} kind={filter.kind} />
      )}
      <ExportMemories agentId={agentId} />
      <RequireRole role="admin" to="delete all memories">
        <DeleteAll agentId={agentId} />
      </RequireRole>
    </Panel>
  );
}

function FilterForm({ onFilter }: { onFilter: (filter: Filter) => void }) {
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const kind = readText(form, "kind");
    onFilter({ words: readText(form, "words"), kind: kind === "" ? undefined : (kind as MemoryKind) });
  };
  return (
    <search>
      <form className="grid items-end gap-4 sm:grid-cols-[2fr_1fr_auto]" onSubmit={submit}>
        <Field label="Words in the memories" name="words" type="search" maxLength={500} />
        <Select label="Kind of memory" name="kind" options={[["", "All kinds"], ...MEMORY_KIND_OPTIONS]} />
        <Button type="submit">Show memories</Button>
      </form>
    </search>
  );
}

interface ListProps {
  agentId: string;
  kind: MemoryKind | undefined;
}

function AllMemories({ agentId, kind }: ListProps) {
  const { id: orgId, api } = useOrganization();
  const memories = useInfiniteQuery({
    queryKey: [...memoriesKey(orgId, agentId), kind],
    queryFn: ({ pageParam }) =>
      api.memories.list.query({ id: agentId, kind, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.memories),
  });
  return (
    <>
      <QueryContent query={memories}>
        {(list) => <MemoryTable agentId={agentId} memories={list} ifEmpty="No memories yet." />}
      </QueryContent>
      {memories.hasNextPage && (
        <Button busy={memories.isFetchingNextPage} onClick={() => void memories.fetchNextPage()}>
          Load more memories
        </Button>
      )}
    </>
  );
}

function FoundMemories({ agentId, kind, words }: ListProps & { words: string }) {
  const { id: orgId, api } = useOrganization();
  const memories = useQuery({
    queryKey: [...memoriesKey(orgId, agentId), kind, words],
    queryFn: () => api.memories.search.query({ id: agentId, kind, q: words, limit: 50 }),
    select: ({ memories: list }) => list,
  });
  return (
    <QueryContent query={memories}>
      {(list) => <MemoryTable agentId={agentId} memories={list} ifEmpty="No memory matches these words." />}
    </QueryContent>
  );
}

interface TableProps {
  agentId: string;
  memories: readonly Memory[];
  ifEmpty: string;
}

function MemoryTable({ agentId, memories, ifEmpty }: TableProps) {
  if (memories.length === 0)
    return (
      <EmptyState>
        <p>{ifEmpty}</p>
      </EmptyState>
    );
  return (
    <Table caption="Memories of the agent" columns={COLUMNS}>
      {memories.map((memory) => (
        <MemoryRow key={memory.memory_id} agentId={agentId} memory={memory} />
      ))}
    </Table>
  );
}

function DeleteAll({ agentId }: { agentId: string }) {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const remove = useMutation({
    mutationFn: () => api.memories.deleteAll.mutate({ id: agentId }),
    onSuccess: () => client.invalidateQueries({ queryKey: memoriesKey(orgId, agentId) }),
  });
  return (
    <>
      <ConfirmButton
        label="Delete all memories"
        question="Delete all memories of this agent?"
        typed="all memories"
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        The agent recalls none of them any more. Export them before if they may be needed again.
      </ConfirmButton>
      <ErrorNotice error={remove.error} />
    </>
  );
}

/** Downloads all memories of an agent as a file with one JSON object per line. */
function ExportMemories({ agentId }: { agentId: string }) {
  const { api } = useOrganization();
  const exporting = useMutation({
    mutationFn: () => readAll(api, agentId),
    onSuccess: (memories) => download(memories, `memories-${agentId}.jsonl`),
  });
  return (
    <>
      <Button busy={exporting.isPending} onClick={() => exporting.mutate()}>
        Export memories
      </Button>
      <ErrorNotice error={exporting.error} />
    </>
  );
}

async function readAll(api: Api, agentId: string): Promise<Memory[]> {
  const memories: Memory[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Api["memories"]["export"]["query"]>> = await api.memories.export.query({
      id: agentId,
      ...(cursor !== null && { cursor }),
    });
    memories.push(...page.memories);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return memories;
}

function download(memories: readonly Memory[], name: string): void {
  downloadFile(
    name,
    "application/x-ndjson",
    memories.map((memory) => `${JSON.stringify(memory)}\n`),
  );
}
