import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type DragEvent, type SubmitEvent, useState } from "react";
import { type Api, formatError, sendJson } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Field, readText, Select } from "../../ui/field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ACCEPTED, readFile } from "../../ui/read-file.ts";
import { KINDS, knowledgeKey } from "./kinds.ts";

type Added = Awaited<ReturnType<Api["knowledge"]["add"]["mutate"]>>;

interface Upload {
  kind: string;
  files: File[];
}

/** How many files were stored, and why the others were not. */
interface Uploaded {
  counts: Record<Added["status"], number>;
  failures: string[];
}

const HINT = "Markdown, text, HTML, PDF or DOCX. A file with the name of an earlier upload replaces it.";

/** Uploads files and folders, one file after the other. */
export function UploadPanel() {
  const client = useQueryClient();
  const { id: orgId } = useOrganization();
  const [kind, setKind] = useState("policy");
  const upload = useMutation({
    mutationFn: (request: Upload) => sendFiles(orgId, request),
    onSettled: () => client.invalidateQueries({ queryKey: knowledgeKey(orgId) }),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const files = [...form.getAll("files"), ...form.getAll("folder")].filter(
      (file): file is File => file instanceof File && file.name !== "",
    );
    upload.mutate({ kind: readText(form, "kind"), files });
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const files = filesOfDrop(event.dataTransfer);
    void files.then((list) => upload.mutate({ kind, files: list }));
  };
  return (
    <Panel title="Upload documents" intro="Choose files or a folder, or drop them here.">
      <form
        aria-label="Upload documents"
        className="space-y-4 rounded-md border border-dashed border-zinc-400 p-4"
        onSubmit={submit}
        onDragOver={(event) => event.preventDefault()}
        onDrop={drop}
      >
        <Select
          label="Kind"
          name="kind"
          options={KINDS}
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value)}
        />
        <Field label="Files" hint={HINT} name="files" type="file" accept={ACCEPTED} multiple />
        <Field label="Folder" name="folder" type="file" multiple {...{ webkitdirectory: "" }} />
        <Button type="submit" variant="primary" busy={upload.isPending}>
          Upload
        </Button>
      </form>
      {upload.data !== undefined && <Result uploaded={upload.data} />}
    </Panel>
  );
}

async function sendFiles(orgId: string, { kind, files }: Upload): Promise<Uploaded> {
  const uploaded: Uploaded = { counts: { created: 0, updated: 0, unchanged: 0 }, failures: [] };
  for (const file of files)
    try {
      const body = { kind, file: await readFile(file) };
      const { status } = await sendJson<Added>(orgId, "POST", "/v1/knowledge/documents", body);
      uploaded.counts[status]++;
    } catch (error) {
      uploaded.failures.push(`${file.name}: ${formatError(error)}`);
    }
  return uploaded;
}

function Result({ uploaded: { counts, failures } }: { uploaded: Uploaded }) {
  const { created, updated, unchanged } = counts;
  return (
    <>
      <Notice variant="success">{`${created} added, ${updated} replaced, ${unchanged} unchanged, ${failures.length} not stored.`}</Notice>
      {failures.length > 0 && (
        <div role="alert">
          <ul className="list-disc space-y-1 pl-5 text-sm wrap-anywhere">
            {failures.map((failure) => (
              <li key={failure}>{failure}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

/** Returns the files that a user has dropped, also those in folders, with the names of their folders. */
async function filesOfDrop({ items }: DataTransfer): Promise<File[]> {
  // The list of the event is empty as soon as the event has ended.
  const entries = Array.from(items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const files: File[] = [];
  for (const entry of entries) await collect(entry, files);
  return files;
}

async function collect(entry: FileSystemEntry, files: File[]): Promise<void> {
  if (entry instanceof FileSystemFileEntry) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    const name = entry.fullPath.replace(/^\//, "");
    files.push(new File([file], name, { type: file.type }));
  } else if (entry instanceof FileSystemDirectoryEntry) {
    const reader = entry.createReader();
    // The browser returns at most 100 entries at a time.
    for (;;) {
      const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (part.length === 0) break;
      for (const child of part) await collect(child, files);
    }
  }
}
