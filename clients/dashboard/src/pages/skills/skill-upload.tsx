import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type DragEvent, type SubmitEvent, useState } from "react";
import { type Api, sendJson } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { listDroppedFiles } from "../../ui/dropped-files.ts";
import { Checkbox, Field } from "../../ui/field.tsx";
import { Alert, ErrorNotice, Notice } from "../../ui/notice.tsx";
import { readSkill, SkillFilesError } from "./skill-files.ts";

type Uploaded = Awaited<ReturnType<Api["skills"]["upload"]["mutate"]>>;

interface SkillSource {
  files: File[] | Promise<File[]>;
  /** Whether to enable the skill for the agent. */
  isEnabled: boolean;
}

/**
 * Uploads a skill from a folder or a zip file.
 *
 * @param props.agentId - the agent for which the skill can be enabled too
 */
export function SkillUpload({ agentId }: { agentId?: string }) {
  const client = useQueryClient();
  const { id: orgId } = useOrganization();
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: async ({ files, isEnabled }: SkillSource) => {
      const { name, ...content } = await readSkill(await files);
      const body = { ...content, ...(isEnabled && agentId !== undefined && { agent_ids: [agentId] }) };
      return sendJson<Uploaded>(orgId, "PUT", `/v1/skills/${encodeURIComponent(name)}`, body);
    },
    onSuccess: () =>
      Promise.all(
        [
          ["agent-skills", orgId],
          ["skills", orgId],
        ].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
  });
  return (
    <>
      <SkillForm busy={isPending} canEnable={agentId !== undefined} onUpload={mutate} />
      {error instanceof SkillFilesError ? <Alert>{error.message}</Alert> : <ErrorNotice error={error} />}
      {data !== undefined && (
        <Notice variant="success">
          {`Skill ${data.name} stored with ${data.file_count} ${data.file_count === 1 ? "file" : "files"}.`}
          {data.warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </Notice>
      )}
    </>
  );
}

interface SkillFormProps {
  busy: boolean;
  canEnable: boolean;
  onUpload: (source: SkillSource) => void;
}

function SkillForm({ busy, canEnable, onUpload }: SkillFormProps) {
  const [isEnabled, setEnabled] = useState(true);
  const [isOver, setOver] = useState(false);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const chosen = [...form.getAll("folder"), ...form.getAll("archive")];
    onUpload({ files: chosen.filter((file): file is File => file instanceof File && file.name !== ""), isEnabled });
  };
  const dragOver = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onUpload({ files: listNamedFiles(event.dataTransfer), isEnabled });
  };
  return (
    <form
      aria-label="Upload a skill"
      className={`space-y-4 rounded-md border border-dashed p-4 ${isOver ? "border-focus bg-hover" : "border-line-strong"}`}
      onSubmit={submit}
      onDragOver={dragOver}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <p className="text-sm text-muted">Drop the folder or the zip file of a skill here, or choose it.</p>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Folder with a SKILL.md" name="folder" type="file" className="py-1" {...FOLDERS} />
        <Field label="Zip file" name="archive" type="file" accept=".zip" className="py-1" />
      </div>
      <div className="flex flex-wrap items-center gap-4">
        <Button type="submit" busy={busy}>
          Upload skill
        </Button>
        {canEnable && (
          <Checkbox
            label="Enable it for this agent"
            checked={isEnabled}
            onChange={(event) => setEnabled(event.target.checked)}
          />
        )}
      </div>
    </form>
  );
}

/** The dropped files, with the names of their folders. */
async function listNamedFiles(dropped: DataTransfer): Promise<File[]> {
  const { files } = await listDroppedFiles(dropped);
  return files.map(({ path, file }) => new File([file], path, { type: file.type }));
}

/** React has no type for it. */
const FOLDERS = { webkitdirectory: "" };
