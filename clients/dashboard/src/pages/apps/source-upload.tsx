import { useMutation } from "@tanstack/react-query";
import { isAlwaysLeftOut } from "../../../../../domain/archives/source-folder.ts";
import { Button } from "../../ui/button.tsx";
import { DropZone } from "../../ui/drop-zone.tsx";
import { type DroppedFile, listDroppedFiles } from "../../ui/dropped-files.ts";
import { Alert } from "../../ui/notice.tsx";
import { formatBytes, formatCount } from "../../ui/quantities.ts";
import type { UploadedSource } from "./uploaded-source.ts";
import { explain } from "./use-upload-source.ts";

interface SourceUploadProps {
  source: UploadedSource | null;
  onChange: (source: UploadedSource | null) => void;
}

/** Chooses a folder, or an archive of it, as the source of an app. It is uploaded when the form is sent. */
export function SourceUpload({ source, onChange }: SourceUploadProps) {
  const read = useMutation({
    // Not needed for apps from repositories.
    mutationFn: async (files: readonly DroppedFile[]) => (await import("./uploaded-source.ts")).readSource(files),
    onMutate: () => onChange(null),
    onSuccess: onChange,
  });
  return (
    <div className="space-y-3">
      <DropZone
        text="Drop the folder of an app, or a zip or tar archive of it, anywhere on this page, or choose it."
        files={{
          label: "Archive",
          button: "Choose an archive",
          accept: ".zip,.tar,.tgz,.gz,.zst,.tzst",
          multiple: false,
        }}
        read={READ}
        onChoice={(files) => read.mutate(files)}
      />
      {read.isPending && <p role="status">Reading the files…</p>}
      {read.error !== null && <Alert>{explain(read.error)}</Alert>}
      {source !== null && <ChosenSource source={source} onRemove={() => onChange(null)} />}
    </div>
  );
}

const READ = {
  // Folders that are never deployed can have a hundred thousand files.
  dropped: async (data: DataTransfer) => (await listDroppedFiles(data, isAlwaysLeftOut)).files,
  chosen: async (files: FileList) =>
    Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file })),
};

function ChosenSource({ source, onRemove }: { source: UploadedSource; onRemove: () => void }) {
  const { name, fileCount, size, notes } = source;
  return (
    <div className="flex items-start justify-between gap-3">
      <div role="status" className="min-w-0 space-y-1">
        <p className="font-medium wrap-anywhere">
          {name}: {fileCount === null ? "" : `${formatCount(fileCount, "file")}, `}
          {formatBytes(size)}
        </p>
        {notes.map((note) => (
          <p key={note} className="text-muted wrap-anywhere">
            {note}
          </p>
        ))}
      </div>
      <Button variant="quiet" onClick={onRemove}>
        Remove
      </Button>
    </div>
  );
}
