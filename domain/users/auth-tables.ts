import type { Generated } from "kysely";

/**
 * The tables of the identity provider, with the columns that the service reads or writes itself, for example to create
 * organizations, to reset passwords and to revoke access. Column names are the provider's own. Convert timestamps with
 * `new Date(...)`.
 */
export interface AuthTables {
  "auth.user": {
    id: string;
    name: string;
    email: string;
    emailVerified: boolean;
    createdAt: string;
    updatedAt: string;
  };
  "auth.account": {
    id: string;
    /** The id of the user at the provider; for the provider `credential` the id of the user here. */
    accountId: string;
    providerId: string;
    userId: string;
    /** A password hash; `null` unless the provider is `credential`. */
    password: string | null;
    createdAt: string;
    updatedAt: string;
  };
  "auth.session": {
    id: string;
    userId: string;
    expiresAt: string;
    ipAddress: string | null;
    activeOrganizationId: string | null;
  };
  "auth.organization": { id: string; name: string; slug: string; createdAt: string };
  "auth.member": { id: string; organizationId: string; userId: string; role: string; createdAt: string };
  "auth.invitation": {
    id: string;
    organizationId: string;
    email: string;
    role: string | null;
    status: string;
    expiresAt: string;
    inviterId: string;
  };
  "auth.jwks": { id: string; publicKey: string; alg: string | null; expiresAt: string | null };
  /** The service added the column `lastUsedAt`. The provider does not know it. */
  "auth.oauthClient": {
    id: string;
    clientId: string;
    name: string | null;
    skipConsent: boolean | null;
    lastUsedAt: string | null;
  };
  /** A table of the service. The provider does not know it. */
  "auth.oauthConnection": {
    id: Generated<string>;
    userId: string;
    clientId: string;
    scope: string;
    organizationId: string | null;
    connectedAt: string;
    lastUsedAt: string;
  };
  /** `referenceId`: see `consented-organization.ts`. */
  "auth.oauthConsent": { id: string; clientId: string; userId: string; referenceId: string | null };
  "auth.oauthRefreshToken": { id: string; userId: string; clientId: string; revoked: string | null };
}
