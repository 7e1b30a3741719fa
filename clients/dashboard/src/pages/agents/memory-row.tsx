import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { type Api, formatError } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { readText, Select, TextArea } from "../../ui/field.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Cell, Row } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

export type Memory = Awaited<ReturnType<Api["memories"]["get"]["query"]>>;
export type MemoryKind = Memory["kind"];

export const MEMORY_KIND_OPTIONS = [
  ["preference", "Preference"],
  ["commitment", "Commitment"],
  ["fact", "Fact"],
] as const satisfies readonly (readonly [MemoryKind, string])[];

/** The key of every query of an agent's memories. */
export const memoriesKey = (orgId: string, agentId: string) => ["memories", orgId, agentId];

interface MemoryProps {
  agentId: string;
  memory: Memory;
}

/** A row with a memory, or with a form that corrects it. */
export function MemoryRow({ agentId, memory }: MemoryProps) {
  const [isEditing, setIsEditing] = useState(false);
  return (
    <Row>
      <Cell>
        {isEditing ? (
          <CorrectionForm agentId={agentId} memory={memory} onClose={() => setIsEditing(false)} />
        ) : (
          <MemoryContent memory={memory} />
        )}
      </Cell>
      <Cell>{memory.kind}</Cell>
      <Cell>
        <Timestamp at={memory.updated_at} />
      </Cell>
      <Cell>
        <div className="flex flex-wrap gap-2">
          {!isEditing && (
            <Button aria-label={`Correct: ${labelOf(memory)}`} onClick={() => setIsEditing(true)}>
              Correct
            </Button>
          )}
          <DeleteMemory agentId={agentId} memory={memory} />
        </div>
      </Cell>
    </Row>
  );
}

const LABEL_CHARACTERS = 40;

/** The beginning of a memory, which names it for screen readers. */
function labelOf({ content }: Memory): string {
  return content.length <= LABEL_CHARACTERS ? content : `${content.slice(0, LABEL_CHARACTERS)}…`;
}

function MemoryContent({ memory: { content, instruction_like: isInstructionLike } }: { memory: Memory }) {
  return (
    <>
      <p className="whitespace-pre-wrap">{content}</p>
      {isInstructionLike && <HelpText>Has the form of an instruction. The agent gets it marked as data.</HelpText>}
    </>
  );
}

function CorrectionForm({ agentId, memory, onClose }: MemoryProps & { onClose: () => void }) {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const correct = useMutation({
    mutationFn: (form: FormData) =>
      api.memories.correct.mutate({
        id: agentId,
        memory_id: memory.memory_id,
        content: readText(form, "content"),
        kind: readText(form, "kind") as MemoryKind,
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: memoriesKey(orgId, agentId) });
      onClose();
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    correct.mutate(new FormData(event.currentTarget));
  };
  return (
    <form aria-label="Correct the memory" className="space-y-3" onSubmit={submit}>
      <TextArea label="Content" name="content" rows={3} required maxLength={4000} defaultValue={memory.content} />
      <Select label="Kind" name="kind" defaultValue={memory.kind} options={MEMORY_KIND_OPTIONS} />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" busy={correct.isPending}>
          Save memory
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
      <ErrorNotice error={correct.error} />
    </form>
  );
}

function DeleteMemory({ agentId, memory }: MemoryProps) {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const refresh = () => client.invalidateQueries({ queryKey: memoriesKey(orgId, agentId) });
  const restore = useMutation({
    mutationFn: () => api.memories.store.mutate({ id: agentId, kind: memory.kind, content: memory.content }),
    onSuccess: refresh,
    onError: (error) => showToast("The memory was not restored.", formatError(error)),
  });
  const remove = useMutation({
    mutationFn: () => api.memories.delete.mutate({ id: agentId, memory_id: memory.memory_id }),
    onSuccess: async () => {
      showToast("Memory deleted", { action: { label: "Undo", run: restore.mutate } });
      await refresh();
    },
  });
  return (
    <>
      <ConfirmButton
        label="Delete"
        accessibleLabel={`Delete: ${labelOf(memory)}`}
        question="Delete this memory?"
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        The agent does not recall it any more.
      </ConfirmButton>
      <ErrorNotice error={remove.error} />
    </>
  );
}
