import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Field, readText, Select } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { showToast } from "../../show-toast.ts";
import { useApp } from "./app-context.ts";
import { AppToken } from "./app-token.tsx";
import { DeleteApp } from "./delete-app.tsx";
import { ExportApp } from "./export-app.tsx";
import { PushDeploy } from "./push-deploy.tsx";
import { RUNTIME_OPTIONS } from "./runtime-options.ts";

/** Name, source and token of an app, its export and its deletion. */
export function AppSettings() {
  const { repo } = useApp();
  return (
    <>
      <GeneralSettings />
      {repo !== null && <PushDeploy />}
      <AppToken />
      <ExportApp />
      <DeleteApp />
    </>
  );
}

function GeneralSettings() {
  const app = useApp();
  const update = useUpdate();
  return (
    <Panel
      title="General"
      intro={`${app.branch === null ? "Folder" : "Branch, folder"} and runtime take effect with the next deployment.`}
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate(new FormData(event.currentTarget));
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Name" name="name" required maxLength={100} defaultValue={app.name} />
          {app.branch !== null && <Field label="Branch" name="branch" required defaultValue={app.branch} />}
          <Field
            label="Folder"
            name="root_directory"
            defaultValue={app.root_directory ?? ""}
            placeholder="Found by the build"
            hint="Of the app in a source with several, such as apps/web"
          />
          <Select label="Runtime" name="runtime" options={RUNTIME_OPTIONS} defaultValue={app.requested_runtime ?? ""} />
        </div>
        <Checkbox
          label="Builds may connect to public addresses, if the operator allows it"
          name="build_network"
          defaultChecked={app.build_network}
        />
        <ErrorNotice error={update.error} />
        <Button type="submit" variant="primary" busy={update.isPending}>
          Save
        </Button>
      </form>
    </Panel>
  );
}

function useUpdate() {
  const app = useApp();
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (form: FormData) => {
      const folder = readText(form, "root_directory");
      const runtime = readText(form, "runtime");
      return api.apps.update.mutate({
        id: app.id,
        name: readText(form, "name"),
        ...(app.branch !== null && { branch: readText(form, "branch") }),
        root_directory: folder === "" ? null : folder,
        runtime: runtime === "" ? null : (runtime as "worker" | "node"),
        build_network: form.has("build_network"),
      });
    },
    onSuccess: async () => {
      showToast("Settings saved.");
      await Promise.all(
        [
          ["app", orgId, app.id],
          ["apps", orgId],
        ].map((queryKey) => client.invalidateQueries({ queryKey })),
      );
    },
  });
}
