import { reachesRole, type Role, ROLES } from "../../../domain/shared/roles.ts";

/** The roles that a user may give to others and take from them: from admin on, up to their own role. */
export function assignableRoles(own: Role): Role[] {
  return reachesRole(own, "admin") ? ROLES.filter((role) => reachesRole(own, role)) : [];
}
