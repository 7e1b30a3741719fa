import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { Checkbox, Field, readText, TextArea } from "../../ui/field.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { SecretValue } from "../../ui/secret-value.tsx";
import { useApp } from "./app-context.ts";
import { PushDeliveries } from "./push-deliveries.tsx";

type PushSettings = Awaited<ReturnType<Api["pushDeploy"]["get"]["query"]>>;

/** Lets pushes deploy an app, and shows what became of them. */
export function PushDeploy() {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const settings = useQuery({
    queryKey: ["app", orgId, id, "push"],
    queryFn: () => api.pushDeploy.get.query({ id }),
  });
  return (
    <Panel title="Push to deploy" intro="A push to the branch deploys the app. The git host reports it with a webhook.">
      <QueryContent query={settings}>{(data) => <Settings settings={data} />}</QueryContent>
    </Panel>
  );
}

function Settings({ settings }: { settings: PushSettings }) {
  const { branch } = useApp();
  const { secret, set, rotate } = useChanges();
  return (
    <>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          set.mutate(new FormData(event.currentTarget));
        }}
      >
        <Checkbox label="Pushes deploy the app" name="enabled" defaultChecked={settings.enabled} />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label="Branch of pushes"
            name="push_branch"
            placeholder={branch ?? ""}
            defaultValue={settings.branch === branch ? "" : (settings.branch ?? "")}
            hint="Without one, the branch of the app"
          />
          <TextArea
            label="Paths"
            name="paths"
            rows={3}
            defaultValue={settings.paths.join("\n")}
            hint="One pattern in each line, such as apps/web/** or !**/*.md. Without patterns, every push deploys"
          />
        </div>
        <Checkbox
          label="Show at the git host how deployments end, if the git connection may"
          name="statuses"
          defaultChecked={settings.statuses}
        />
        <Checkbox
          label="Look for new commits, for a git host that cannot reach this service"
          name="poll"
          defaultChecked={settings.poll}
        />
        <ErrorNotice error={set.error ?? rotate.error} />
        <Button type="submit" variant="primary" busy={set.isPending}>
          Save push to deploy
        </Button>
      </form>
      {settings.url !== null && (
        <Webhook url={settings.url} secret={secret} isReplacing={rotate.isPending} replace={() => rotate.mutate()} />
      )}
    </>
  );
}

interface WebhookProps {
  url: string;
  /** Only if it has just been created. */
  secret: string | null;
  isReplacing: boolean;
  replace: () => void;
}

function Webhook({ url, secret, isReplacing, replace }: WebhookProps) {
  return (
    <>
      <SecretValue label="URL of the webhook" value={url} />
      {secret !== null && <SecretValue label="Secret of the webhook" value={secret} />}
      <HelpText>
        {secret === null
          ? "The secret is not shown again."
          : "Copy the secret now: it is not shown again. Choose the content type application/json and push events."}
      </HelpText>
      <ConfirmButton
        label="Replace secret"
        question="Replace the secret of the webhook?"
        busy={isReplacing}
        onConfirm={replace}
      >
        Pushes are refused until the webhook of the repository has the new secret.
      </ConfirmButton>
      <PushDeliveries />
    </>
  );
}

function useChanges() {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const client = useQueryClient();
  const [secret, setSecret] = useState<string | null>(null);
  const show = async (changed: PushSettings) => {
    if (changed.secret !== null) setSecret(changed.secret);
    await client.invalidateQueries({ queryKey: ["app", orgId, id, "push"] });
  };
  const set = useMutation({
    mutationFn: (form: FormData) => {
      const branch = readText(form, "push_branch");
      const paths = readText(form, "paths").split("\n");
      return api.pushDeploy.set.mutate({
        id,
        enabled: form.has("enabled"),
        branch: branch === "" ? null : branch,
        paths: paths.map((path) => path.trim()).filter((path) => path !== ""),
        statuses: form.has("statuses"),
        poll: form.has("poll"),
      });
    },
    onSuccess: async (changed) => {
      showToast(changed.enabled ? "Pushes deploy the app." : "Pushes do not deploy the app.");
      await show(changed);
    },
  });
  const rotate = useMutation({ mutationFn: () => api.pushDeploy.rotateSecret.mutate({ id }), onSuccess: show });
  return { secret, set, rotate };
}
