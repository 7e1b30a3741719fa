import type { SubmitEvent } from "react";
import { saveBlob } from "../../download-file.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { downloadWithProgress } from "../../transfer-file.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { formatBytes } from "../../ui/quantities.ts";
import { TransferProgress } from "../../ui/transfer-progress.tsx";
import { type TransferControl, useTransfer } from "../../ui/use-transfer.ts";
import { useApp } from "./app-context.ts";

/** Downloads an app with its data. */
export function ExportApp() {
  const { id, slug } = useApp();
  const { id: organizationId } = useOrganization();
  const path = `/v1/apps/${id}/export`;
  const download = useTransfer(
    (variables: boolean, control: TransferControl) =>
      downloadWithProgress({ organizationId, path, ...control }, { variables }),
    (file) => {
      saveBlob(`${slug}.tar.gz`, file);
      showToast(`${slug} is exported.`, "The file has the data of the app. Keep it where only you can read it.");
    },
  );
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    download.start(new FormData(event.currentTarget).has("values"));
  };
  return (
    <Panel
      title="Export"
      intro="Downloads the settings, the source and the data of the app, to import it into another organization or installation. The app continues to run. Its token and the values of secrets are never in the file."
    >
      <form className="space-y-4" onSubmit={submit}>
        <Checkbox label="With the values of variables that are not secret" name="values" />
        <ErrorNotice error={download.error} />
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" busy={download.isPending}>
            {download.isPending ? "Exporting…" : "Export app"}
          </Button>
          {download.isPending && (
            <TransferProgress onCancel={download.cancel}>
              {download.bytes === 0 ? "Copying the data…" : `${formatBytes(download.bytes)} received`}
            </TransferProgress>
          )}
        </div>
      </form>
    </Panel>
  );
}
