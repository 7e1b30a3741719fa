import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { getSession } from "./api.ts";
import { organizationsQuery } from "./organizations-query.ts";
import { Select } from "./ui/field.tsx";

/** The choice of all organizations of the user. */
export const EVERY_ORGANIZATION = "";

/** Lets the user choose the organization in which an OAuth client may act. `list` is `undefined` until it is loaded. */
export function useOrganizationChoice() {
  const organizations = useQuery(organizationsQuery);
  const session = useQuery({ queryKey: ["session"], queryFn: getSession });
  const [chosen, setChosen] = useState<string | null>(null);
  const list = session.data === undefined ? undefined : organizations.data;
  const active = list?.find(({ id }) => id === session.data?.session.activeOrganizationId) ?? list?.[0];
  const id = chosen ?? active?.id ?? EVERY_ORGANIZATION;
  const options = (list ?? []).map((organization) => [organization.id, organization.name] as const);
  const field = (
    <Select
      label="Organization"
      hint="The client may act only here. Your role limits it further."
      value={id}
      onChange={(event) => setChosen(event.currentTarget.value)}
      options={options.length > 1 ? [...options, [EVERY_ORGANIZATION, "All of my organizations"]] : options}
    />
  );
  return { id, list, field, error: organizations.error ?? session.error };
}
