import { useMutation } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import { forgetToken, identity } from "../api.ts";
import { formText } from "../form-text.ts";
import { Button } from "./button.tsx";
import { Field } from "./field.tsx";
import { Problem } from "./notice.tsx";
import { Panel } from "./panel.tsx";

/** A label for addresses, which has to be unique; people never see it. */
function slugOf(name: string): string {
  const label = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return `${label.slice(0, 40)}-${crypto.randomUUID().slice(0, 8)}`;
}

export function NewOrganization({ first = false }: { first?: boolean }) {
  const create = useMutation({
    mutationFn: (form: FormData) => {
      const name = formText(form, "name");
      return identity("/organization/create", { name, slug: slugOf(name) });
    },
    onSuccess: () => {
      forgetToken();
      location.assign("/");
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate(new FormData(event.currentTarget));
  };
  return (
    <Panel
      title="Create an organization"
      intro={
        first ? "You belong to no organization yet. Create one, or open the link of an invitation." : "You will own it."
      }
    >
      <form className="max-w-sm space-y-4" onSubmit={submit}>
        <Field label="Name of the organization" name="name" required maxLength={100} autoComplete="organization" />
        <Problem error={create.error} />
        <Button type="submit" look="primary" busy={create.isPending}>
          Create
        </Button>
      </form>
    </Panel>
  );
}
