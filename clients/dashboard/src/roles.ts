/** In ascending order. The service enforces them; the dashboard only hides what it would refuse. */
export const ROLES = ["member", "admin", "owner"] as const;

export type Role = (typeof ROLES)[number];

export function reachesRole(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

/** The highest role of a member. The identity provider may store several roles, separated by commas. */
export function highestRole(roles: string): Role {
  const names = roles.split(",").map((role) => role.trim());
  return ROLES.findLast((role) => names.includes(role)) ?? "member";
}
