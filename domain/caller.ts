/** Who asks, and for which organization. Made from a verified credential, never from anything else in a request. */
export interface Caller {
  orgId: string;
  /** The person behind the credential; `null` when the credential belongs to no person. */
  userId: string | null;
  credential: { kind: CredentialKind; id: string };
}

export const CREDENTIAL_KINDS = ["api_key", "personal_access_token", "gateway_token"] as const;

export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];
