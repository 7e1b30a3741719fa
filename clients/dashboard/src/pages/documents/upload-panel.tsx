import { useBlocker } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { DropZone } from "../../ui/drop-zone.tsx";
import { Select } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ACCEPTED } from "../../ui/read-file.ts";
import type { Choice } from "./archived-files.ts";
import { listChosen, listDropped, READABLE } from "./chosen-files.ts";
import type { DocumentSet } from "./document-set.ts";
import { KINDS } from "../knowledge/kinds.ts";
import { UploadList } from "./upload-list.tsx";
import { useUploads } from "./use-uploads.ts";

const READ = { dropped: listDropped, chosen: listChosen };

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
        <DropZone
          text="Drop files, folders or a zip archive anywhere on this page, or choose them."
          files={{ label: "Files", button: "Choose files", accept: `${ACCEPTED},.zip`, multiple: true }}
          read={READ}
          onChoice={choose}
        />
        <UploadList uploads={uploads} />
        <LeaveDialog isRunning={uploads.isRunning} />
      </div>
    </Panel>
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
