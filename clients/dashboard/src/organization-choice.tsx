import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { organizationsQuery } from "./organizations-query.ts";
import { sessionQuery } from "./session-query.ts";
import { Select } from "./ui/field.tsx";

/** The choice of all organizations of the user. */
export const EVERY_ORGANIZATION = "";

/** Lets the user choose the organization in which an OAuth client may act. Show the field when `query` has data. */
export function useOrganizationChoice() {
  const organizations = useQuery(organizationsQuery);
  const session = useQuery(sessionQuery);
  const [chosen, setChosen] = useState<string | null>(null);
  // Without the session, the selected organization would change later, perhaps just before the user allows access.
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
  const query = {
    data: list,
    error: organizations.error ?? session.error,
    isFetching: organizations.isFetching || session.isFetching,
    refetch: () => Promise.all([organizations.refetch(), session.refetch()]),
  };
  return { id, query, field };
}
