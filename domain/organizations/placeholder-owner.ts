/** The owner of the organization that the first start creates: whoever signs up first takes its place. */
export const FIRST_OWNER_EMAIL = "owner@localhost.localdomain";

const PLACEHOLDER_DOMAIN = "@placeholder.invalid";

/** The owner of an organization that an operator set up, until the person who is invited takes its place. */
export function placeholderEmail(orgId: string): string {
  return orgId + PLACEHOLDER_DOMAIN;
}
