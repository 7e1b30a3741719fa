import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { Environment } from "../../environments-query.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox, Field, readGiven, readText } from "../../ui/field.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { useOpenDeployment } from "./use-open-deployment.ts";

/** Creates an environment of an app, and opens its first deployment. */
export function NewEnvironment({ production }: { production: Environment }) {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <div>
      <Button disabled={production.status === "deleting"} onClick={() => setOpen(true)}>
        <Plus aria-hidden className="size-4" />
        New environment
      </Button>
      <Dialog
        title="New environment"
        description="It is deployed at once, and counts as an app of your plan."
        open={isOpen}
        onClose={close}
      >
        {isOpen && <EnvironmentForm production={production} onCancel={close} />}
      </Dialog>
    </div>
  );
}

function EnvironmentForm({ production, onCancel }: { production: Environment; onCancel: () => void }) {
  const create = useCreate(production);
  const { branch } = production;
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate(new FormData(event.currentTarget));
      }}
    >
      <Field
        label="Name"
        name="name"
        required
        maxLength={32}
        pattern="[a-z0-9][a-z0-9\-]*"
        placeholder="staging"
        autoComplete="off"
        hint="1 to 32 characters of a-z, 0-9 and -"
      />
      {branch !== null && (
        <Field
          label="Branch"
          name="branch"
          placeholder={branch}
          autoComplete="off"
          hint="Without one, that of production"
        />
      )}
      <div>
        <Checkbox label="Copy the variables of production" name="copy_variables" defaultChecked />
        <HelpText>Secrets too. Without them, the environment cannot reach what production uses.</HelpText>
      </div>
      <ErrorNotice error={create.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" busy={create.isPending}>
          Create environment
        </Button>
      </div>
    </form>
  );
}

function useCreate({ app_id: id }: Environment) {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const openDeployment = useOpenDeployment();
  return useMutation({
    mutationFn: (form: FormData) => {
      const copies = form.has("copy_variables");
      const name = readText(form, "name");
      return api.environments.create.mutate({ id, name, copy_variables: copies, ...readGiven(form, ["branch"]) });
    },
    onSuccess: async ({ app_id: created }) => {
      const queryKeys = ["apps", "environments"].map((name) => [name, orgId]);
      await Promise.all(queryKeys.map((queryKey) => client.invalidateQueries({ queryKey })));
      await openDeployment(created, 1);
    },
  });
}
