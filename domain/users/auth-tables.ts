/**
 * The tables of the identity provider that the service reads, and writes only to set up an organization. Column names
 * are the provider's own. Timestamps arrive as the driver gives them: pass them through `new Date(...)`.
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
    /** Who the person is at the provider; for `credential` the id of the user. */
    accountId: string;
    providerId: string;
    userId: string;
    /** A hash; `null` unless the provider is `credential`. */
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
  /** `lastUsedAt` is the service's own column, which the provider does not know. */
  "auth.oauthClient": { id: string; clientId: string; lastUsedAt: string | null };
  "auth.oauthRefreshToken": { id: string; userId: string; revoked: string | null };
}
