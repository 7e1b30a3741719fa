import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { EXPORT_LIMITS } from "../../../../../domain/exports/export-limits.ts";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { uploadWithProgress } from "../../transfer-file.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { FilePicker } from "../../ui/drop-zone.tsx";
import { Field, readText } from "../../ui/field.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { Alert, ErrorNotice, Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { formatBytes } from "../../ui/quantities.ts";
import { TransferProgress } from "../../ui/transfer-progress.tsx";
import { type TransferControl, useTransfer } from "../../ui/use-transfer.ts";
import { DeployLimits } from "./deploy-limits.tsx";
import { useOpenDeployment } from "./use-open-deployment.ts";

type ImportedApp = Awaited<ReturnType<Api["apps"]["import"]["mutate"]>>;

interface Import {
  file: File;
  /** Empty for that of the exported app. */
  name: string;
}

/** Creates an app from an export, and opens the page of its first deployment, or says what the export lacks. */
export function ImportApp() {
  const [imported, setImported] = useState<ImportedApp | null>(null);
  return imported === null ? <ImportForm onIncomplete={setImported} /> : <IncompleteImport app={imported} />;
}

function ImportForm({ onIncomplete }: { onIncomplete: (app: ImportedApp) => void }) {
  const [file, setFile] = useState<File | null>(null);
  const upload = useImport(onIncomplete);
  const isTooLarge = file !== null && file.size > EXPORT_LIMITS.bytes;
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (file !== null) upload.start({ file, name: readText(new FormData(event.currentTarget), "name") });
  };
  return (
    <form className="space-y-4" onSubmit={submit}>
      <HelpText>
        A file that “Export app” in the settings of an app, or svc apps export, has written. The new app gets the
        source, the settings and the data, and an id, a slug and a token of its own.
      </HelpText>
      <ChosenExport file={file} onChange={setFile} />
      <Field label="Name" name="name" maxLength={100} placeholder="That of the exported app" autoComplete="off" />
      {isTooLarge && <Alert>{`An export can have ${formatBytes(EXPORT_LIMITS.bytes)} at most.`}</Alert>}
      <ErrorNotice error={upload.error} />
      <div className="flex flex-wrap items-center justify-between gap-3">
        <DeployLimits />
        <div className="flex flex-wrap items-center gap-3">
          {upload.isPending && file !== null && (
            <TransferProgress onCancel={upload.cancel}>{describeProgress(upload.bytes, file.size)}</TransferProgress>
          )}
          <Button type="submit" variant="primary" busy={upload.isPending} disabled={file === null || isTooLarge}>
            {upload.isPending ? "Importing…" : "Import"}
          </Button>
        </div>
      </div>
    </form>
  );
}

function ChosenExport({ file, onChange }: { file: File | null; onChange: (file: File | null) => void }) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <FilePicker label="Export" accept=".gz,.tgz" onFiles={(files) => onChange(files.item(0))}>
        Choose an export
      </FilePicker>
      {file !== null && (
        <p role="status" className="min-w-0 wrap-anywhere">
          {file.name}: {formatBytes(file.size)}
        </p>
      )}
    </div>
  );
}

function useImport(onIncomplete: (app: ImportedApp) => void) {
  const { id: organizationId } = useOrganization();
  const client = useQueryClient();
  const openDeployment = useOpenDeployment();
  return useTransfer(
    ({ file, name }: Import, control: TransferControl) => {
      const path = `/v1/apps/import${name === "" ? "" : `?name=${encodeURIComponent(name)}`}`;
      return uploadWithProgress<ImportedApp>({ organizationId, path, ...control }, file);
    },
    async (app) => {
      await client.invalidateQueries({ queryKey: ["apps", organizationId] });
      if (app.warnings.length > 0 || app.missing_variables.length > 0) onIncomplete(app);
      else await openDeployment(app.app_id, 1);
    },
  );
}

/** The browser also counts the headers of the request. */
function describeProgress(sent: number, size: number): string {
  if (sent >= size) return "Checking the export…";
  return `${Math.floor((sent / size) * 100)}% of ${formatBytes(size)} sent`;
}

function IncompleteImport({ app }: { app: ImportedApp }) {
  const { id: orgId } = useOrganization();
  const { app_id: id, slug, missing_variables: missing, warnings } = app;
  return (
    <div className="space-y-4">
      <Notice variant="success">{slug} is imported. Its first deployment restores the data.</Notice>
      {warnings.length > 0 && (
        <Panel title="What the export lacks">
          <ul className="list-disc space-y-1 pl-5 wrap-anywhere">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Panel>
      )}
      {missing.length > 0 && (
        <Panel title="Variables without values" intro="Set them, and deploy again if the app needs them.">
          <p className="font-mono wrap-anywhere">{missing.join(", ")}</p>
          <Link to="/apps/$id/variables" params={{ id }} search={{ org: orgId }} className={buttonClass()}>
            Set variables
          </Link>
        </Panel>
      )}
      <Link to="/apps/$id" params={{ id }} search={{ org: orgId }} className={buttonClass("primary")}>
        Open the app
      </Link>
    </div>
  );
}
