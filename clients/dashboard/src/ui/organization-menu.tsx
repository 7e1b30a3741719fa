import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { callIdentity } from "../api.ts";
import type { Organization } from "../organizations-query.ts";
import { Menu, MenuChoice, MenuLink, MenuSeparator } from "./menu.tsx";
import { OrganizationButton } from "./side-bar-buttons.tsx";

interface Props {
  organizations: Organization[];
  /** The organization that the URL names; `undefined` when the user is not a member of it. */
  selected: Organization | undefined;
}

/** Opens the page of another organization. Pages of other tabs keep theirs. */
export function OrganizationMenu({ organizations, selected }: Props) {
  const navigate = useNavigate();
  // Pages that are opened without an organization start with this one.
  const remember = useMutation({
    mutationFn: (organizationId: string) => callIdentity("/organization/set-active", { organizationId }),
  });
  const select = (id: string): void => {
    remember.mutate(id);
    void navigate({ to: ".", search: { org: id } });
  };
  return (
    <Menu defaultOpen trigger={<OrganizationButton organization={selected} />}>
      <MenuChoice
        label="Organizations"
        value={selected?.id}
        options={organizations.map((organization) => [organization.id, organization.name])}
        onChange={select}
      />
      <MenuSeparator />
      <MenuLink
        link={
          <Link to="/settings/account" search={{ org: selected?.id }} hash="new-organization">
            <Plus aria-hidden className="size-4 text-muted" />
            New organization
          </Link>
        }
      />
    </Menu>
  );
}
