import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import { type Api, sendFile } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";

type Imported = Awaited<ReturnType<Api["sessions"]["import"]["mutate"]>>;

const HINT =
  "A file of ~/.claude/projects or ~/.codex/sessions. A file can be imported again: only new entries are added.";

/** Imports a transcript that Claude Code or Codex has written. */
export function ImportTranscript({ agentId }: { agentId: string }) {
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
      <form aria-label="Import a transcript" className="grid items-end gap-4 sm:grid-cols-[1fr_auto]" onSubmit={submit}>
        <Field
          label="Transcript of Claude Code or Codex"
          hint={HINT}
          name="file"
          type="file"
          accept=".jsonl"
          required
        />
        <Button type="submit" busy={importing.isPending}>
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
  return isCut ? `${count} The last line of the file is incomplete and was left out.` : count;
}
