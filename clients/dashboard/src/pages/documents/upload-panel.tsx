import { useBlocker } from "@tanstack/react-router";
import { FileUp, FolderUp } from "lucide-react";
import { type InputHTMLAttributes, type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ACCEPTED } from "../../ui/read-file.ts";
import type { Choice } from "./archived-files.ts";
import { listChosen, listDropped, READABLE } from "./chosen-files.ts";
import type { DocumentSet } from "./document-set.ts";
import { KINDS } from "../knowledge/kinds.ts";
import { UploadList } from "./upload-list.tsx";
import { useUploads } from "./use-uploads.ts";

/** Uploads files, folders and zip archives that the user chooses or drops. */
export function UploadPanel({ set }: { set: DocumentSet }) {
  const uploads = useUploads(set);
  const [kind, setKind] = useState<string>(KINDS[0][0]);
  const choose = (choice: Choice): void => uploads.add(choice, set.hasKinds ? kind : undefined);
  return (
    <Panel
      id="upload"
      title="Upload documents"
      intro={`${READABLE}, also in a folder or a zip archive. A file with the path of an earlier upload becomes a new version of it.`}
    >
      {/* Not `space-y`: the closed dialog would get a margin. */}
      <div className="flex flex-col gap-4">
        {set.hasKinds && (
          <div className="max-w-xs">
            <Select
              label="Kind of the files"
              options={KINDS}
              value={kind}
              onChange={(event) => setKind(event.currentTarget.value)}
            />
          </div>
        )}
        <DropZone onChoice={choose} />
        <UploadList uploads={uploads} />
        <LeaveDialog isRunning={uploads.isRunning} />
      </div>
    </Panel>
  );
}

function DropZone({ onChoice }: { onChoice: (choice: Choice) => void }) {
  const isOver = useWindowDrop(onChoice);
  return (
    <div
      data-testid="drop-zone"
      className={`flex flex-col items-center gap-3 rounded-md border border-dashed px-4 py-6 text-center ${isOver ? "border-accent bg-hover" : "border-line-strong bg-sunken"}`}
    >
      <p className="text-sm text-muted">Drop files, folders or a zip archive anywhere on this page, or choose them.</p>
      <div className="flex flex-wrap justify-center gap-2">
        <Picker label="Files" onChoice={onChoice} accept={`${ACCEPTED},.zip`}>
          <FileUp aria-hidden className="size-4" />
          Choose files
        </Picker>
        <Picker label="Folder" onChoice={onChoice} {...{ webkitdirectory: "" }}>
          <FolderUp aria-hidden className="size-4" />
          Choose a folder
        </Picker>
      </div>
    </div>
  );
}

/**
 * Takes what is dropped anywhere on the page: beside a small zone, the browser would open the file instead of the page.
 * Returns whether files are dragged over the page.
 */
function useWindowDrop(onChoice: (choice: Choice) => void): boolean {
  const [isOver, setOver] = useState(false);
  const choose = useEffectEvent(onChoice);
  useEffect(() => {
    const listeners = new AbortController();
    const { signal } = listeners;
    const drag = (event: DragEvent): void => {
      // Not a text that is dragged into a field.
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      setOver(false);
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      listDropped(event.dataTransfer).then(choose, () =>
        showToast("The browser cannot read what was dropped", "Choose the files or the folder with the buttons."),
      );
    };
    addEventListener("dragover", drag, { signal });
    addEventListener("dragleave", leave, { signal });
    addEventListener("drop", drop, { signal });
    return () => listeners.abort();
  }, []);
  return isOver;
}

interface PickerProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  onChoice: (choice: Choice) => void;
  children: ReactNode;
}

/** A button that opens a file picker. */
function Picker({ label, onChoice, children, ...rest }: PickerProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button onClick={() => input.current?.click()}>{children}</Button>
      <input
        ref={input}
        {...rest}
        type="file"
        multiple
        hidden
        aria-label={label}
        onChange={({ currentTarget }) => {
          // The list is read at once, because it is emptied below.
          if (currentTarget.files !== null) void listChosen(currentTarget.files).then(onChoice);
          // The same files can be chosen again.
          currentTarget.value = "";
        }}
      />
    </>
  );
}

/** Asks before the user leaves the page while files are uploaded. */
function LeaveDialog({ isRunning }: { isRunning: boolean }) {
  const blocker = useBlocker({
    // A filter of the list changes the URL too.
    shouldBlockFn: ({ current, next }) => isRunning && pageOf(current) !== pageOf(next),
    enableBeforeUnload: isRunning,
    withResolver: true,
  });
  return (
    <Dialog
      title="Leave while files are uploaded?"
      description="The files that still wait are not uploaded."
      open={blocker.status === "blocked"}
      onClose={() => blocker.reset?.()}
    >
      <div className="flex justify-end gap-2">
        <Button onClick={() => blocker.reset?.()}>Stay</Button>
        <Button variant="danger" onClick={() => blocker.proceed?.()}>
          Leave
        </Button>
      </div>
    </Dialog>
  );
}

/** The path with the organization. */
function pageOf({ pathname, search }: { pathname: string; search: object }): string {
  return `${pathname} ${"org" in search ? String(search.org) : ""}`;
}
