/** In ascending order. */
export const ROLES = ["member", "admin", "owner"] as const;

/** What a user is in an organization. */
export type Role = (typeof ROLES)[number];

/** What a role adds to the roles before it, for the page of the members. docs/scopes.md has the role of each call. */
export const ROLE_DESCRIPTIONS = {
  member:
    "Deploy, change and delete apps, use agents, skills, knowledge and projects, and create personal access tokens",
  admin:
    "Also create, change and delete agents and servers, delete projects and sessions, create API keys, change the settings of the organization, and invite and remove members",
  owner: "Also read the audit log, and change, invite and remove owners",
} as const satisfies Record<Role, string>;

export function reachesRole(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

/** The highest role of a member. The identity provider may store several roles, separated by commas. */
export function highestRole(roles: string): Role {
  const names = roles.split(",").map((role) => role.trim());
  return ROLES.findLast((role) => names.includes(role)) ?? "member";
}
