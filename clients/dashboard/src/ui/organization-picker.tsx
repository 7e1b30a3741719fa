import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { callIdentity } from "../api.ts";
import type { Organization } from "../organizations-query.ts";
import { SELECT_CLASS } from "./field.tsx";

interface Props {
  organizations: Organization[];
  /** The organization that the URL names; `undefined` when the user is not a member of it. */
  selected: Organization | undefined;
}

/** Opens the page of another organization. Pages of other tabs keep theirs. */
export function OrganizationPicker({ organizations, selected }: Props) {
  const navigate = useNavigate();
  // Pages that are opened without an organization start with this one.
  const remember = useMutation({
    mutationFn: (organizationId: string) => callIdentity("/organization/set-active", { organizationId }),
  });
  if (organizations.length < 2 && selected !== undefined)
    return <span className="truncate text-sm">{selected.name}</span>;
  if (organizations.length === 0) return null;
  const select = (id: string) => {
    remember.mutate(id);
    void navigate({ to: ".", search: { org: id } });
  };
  return (
    <select
      aria-label="Organization"
      className={SELECT_CLASS}
      value={selected?.id ?? ""}
      onChange={(event) => select(event.currentTarget.value)}
    >
      {selected === undefined && <option value="">Select an organization</option>}
      {organizations.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
