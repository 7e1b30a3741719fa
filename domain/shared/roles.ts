/** In ascending order. */
export const ROLES = ["member", "admin", "owner"] as const;

/** What a user is in an organization. */
export type Role = (typeof ROLES)[number];

export function reachesRole(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

/** The highest role of a member. The identity provider may store several roles, separated by commas. */
export function highestRole(roles: string): Role {
  const names = roles.split(",").map((role) => role.trim());
  return ROLES.findLast((role) => names.includes(role)) ?? "member";
}
