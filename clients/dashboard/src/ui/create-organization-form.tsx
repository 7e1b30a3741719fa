import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { SubmitEvent } from "react";
import { callIdentity } from "../api.ts";
import { reloadMemberships } from "../memberships.ts";
import { Button } from "./button.tsx";
import { Field, readText } from "./field.tsx";
import { ErrorNotice } from "./notice.tsx";
import { Panel } from "./panel.tsx";

/** Creates a unique slug. better-auth requires one; no page shows it. */
function createSlug(name: string): string {
  const prefix = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return `${prefix.slice(0, 40)}-${crypto.randomUUID().slice(0, 8)}`;
}

interface Props {
  first?: boolean;
  opensOrganization?: boolean;
}

/**
 * @param props.first - whether the user has no organization yet
 * @param props.opensOrganization - whether to open the start page of the organization afterwards
 */
export function CreateOrganizationForm({ first = false, opensOrganization = true }: Props) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: (form: FormData) => {
      const name = readText(form, "name");
      return callIdentity<{ id: string }>("/organization/create", { name, slug: createSlug(name) });
    },
    onSuccess: async ({ id }) => {
      await reloadMemberships(client);
      if (opensOrganization) await navigate({ to: "/", search: { org: id } });
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate(new FormData(event.currentTarget));
  };
  return (
    <Panel
      id="new-organization"
      title="Create an organization"
      intro={
        first
          ? "You are not a member of any organization. Create one, or open the link of an invitation."
          : "You become its owner."
      }
    >
      <form className="max-w-sm space-y-4" onSubmit={submit}>
        <Field label="Organization name" name="name" required maxLength={100} autoComplete="organization" />
        <ErrorNotice error={create.error} />
        <Button type="submit" variant="primary" busy={create.isPending}>
          Create organization
        </Button>
      </form>
    </Panel>
  );
}
