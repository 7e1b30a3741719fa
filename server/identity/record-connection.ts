import { decodeJwt } from "jose";
import type { Db } from "../../domain/database-types.ts";
import { connectOAuthClient, type GrantedAccess, touchOAuthConnection } from "../../domain/users/oauth-connections.ts";
import { type AuthCall, readFields } from "./auth-call.ts";

const AUTHORIZATION_CODE = "authorization_code";
const REFRESH_TOKEN = "refresh_token";

/** Records which client the token endpoint has issued an access token to, and for whom. */
export async function recordConnection(db: Db, { body, context }: AuthCall): Promise<void> {
  const access = readGrantedAccess(readFields(context.returned)["access_token"]);
  if (access === null) return;
  const grantType = readFields(body)["grant_type"];
  if (grantType === REFRESH_TOKEN) return touchOAuthConnection(db, access);
  await connectOAuthClient(db, access, { requiresConsent: grantType === AUTHORIZATION_CODE });
}

/** Reads the claims of a token that better-auth has just signed; `null` for a token that no API of the service accepts. */
function readGrantedAccess(token: unknown): GrantedAccess | null {
  if (typeof token !== "string" || token.split(".").length !== 3) return null;
  const { sub, iat, client_id: clientId, scope, org_id: orgId } = decodeJwt(token);
  if (sub === undefined || iat === undefined || typeof clientId !== "string") return null;
  return {
    userId: sub,
    clientId,
    scope: typeof scope === "string" ? scope : "",
    organizationId: typeof orgId === "string" ? orgId : null,
    issuedAt: iat,
  };
}
