import type { ReactNode } from "react";
import { reachesRole, type Role, ROLES } from "../../../../domain/shared/roles.ts";
import { useOrganization } from "../organization.ts";
import { HelpText } from "./help-text.tsx";

interface Props {
  role: Role;
  /** What the role permits, such as `invite users`. */
  to: string;
  children: ReactNode;
}

/** Shows controls only to users whose role permits their use. Other users read which role is required. */
export function RequireRole({ role: required, to, children }: Props) {
  const { role } = useOrganization();
  return reachesRole(role, required) ? children : <RoleHint role={required} to={to} />;
}

/** Says which role an action requires, unless the user has it. */
export function RoleHint({ role: required, to }: Omit<Props, "children">) {
  const { role } = useOrganization();
  if (reachesRole(role, required)) return null;
  const sufficient = ROLES.filter((candidate) => reachesRole(candidate, required)).join(" or ");
  return (
    <HelpText>
      Role {sufficient} required to {to}. Your role is {role}.
    </HelpText>
  );
}
