import { sha256Hex } from "../shared/sha256.ts";

/** The placeholder owner of the organization that the first start creates. The first user who signs up claims it. */
export const FIRST_OWNER_EMAIL = "owner@localhost.localdomain";

const RESERVED_DOMAINS = /[.@](invalid|localdomain)$/i;

/** The email address of the placeholder owner of an organization that an operator created. */
export function placeholderOwnerEmail(orgId: string): string {
  return `${orgId}@placeholder.invalid`;
}

/**
 * The email address that is stored for an external user. The address in the user's token is not used: it may belong to
 * someone else, and this service has not verified it.
 */
export function externalUserEmail(issuer: string, subject: string): string {
  const hash = sha256Hex(`${issuer}\n${subject}`);
  return `${hash.slice(0, 40)}@oidc.invalid`;
}

/** Whether the service reserves an email address for placeholder owners and external users. No one can sign up with it. */
export function isReservedEmail(email: string): boolean {
  return RESERVED_DOMAINS.test(email);
}
