import type { Caller, TokenKind } from "../../domain/shared/caller.ts";
import { highestScope, type Scope } from "../../domain/shared/scopes.ts";
import { MembershipResolver } from "../../domain/users/membership-resolver.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import type { TokenPrefix } from "../../domain/tokens/token-format.ts";
import { MachineTokenVerifier } from "../../domain/tokens/machine-token-verifier.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { listOwnOrigins } from "../http/own-origins.ts";
import { MemoryCounter } from "../drivers/counter/memory-counter.ts";
import { type AccessTokenClaims, AccessTokenVerifier } from "./access-token-verifier.ts";
import { Authenticator, type BearerTokenVerifier, machineTokenVerifier } from "./authenticator.ts";
import { RemoteJwks } from "./remote-jwks.ts";
import { ExternalUsers } from "./external-users.ts";
import { LocalJwks } from "./local-jwks.ts";

export interface AuthenticatorDeps {
  orm: Orm;
  config: Pick<Config, "oidc">;
  /** Announces changes of tokens, sessions and memberships. */
  accessChanges: ChangeFeed;
  publicUrl(): string;
}

/** One authenticator per API, each with the token types that this API accepts. */
export interface Authenticators {
  /** For REST and typed RPC. */
  authenticator: Authenticator;
  /** For the tool gateway. */
  gatewayAuthenticator: Authenticator;
  membershipResolver: MembershipResolver;
}

export function buildAuthenticators({ orm, config, accessChanges, publicUrl }: AuthenticatorDeps): Authenticators {
  // Each process counts separately, because authentication must work while Redis is unavailable.
  const invalidTokens = new MemoryCounter();
  const db = queryBuilderOf(orm.em.fork());
  const clearOnChange = (cache: { clear(): void }): void => {
    const clear = () => cache.clear();
    accessChanges.listen(clear, clear);
  };
  const membershipResolver = new MembershipResolver(db);
  clearOnChange(membershipResolver);
  const machineTokens = (prefix: TokenPrefix, kind: TokenKind): BearerTokenVerifier => {
    return machineTokenVerifier(prefix, new MachineTokenVerifier(db, kind));
  };
  const keys = new LocalJwks(db);
  const ownAccessTokens = (audiences: () => string[]): BearerTokenVerifier =>
    new AccessTokenVerifier({
      issuer: publicUrl,
      audiences,
      getKey: (id) => keys.getKey(id),
      resolveCaller: (claims) => resolveOwnCaller(membershipResolver, claims),
    });
  const resources = (path: string): string[] => listOwnOrigins(publicUrl()).map((origin) => origin + path);
  const apiVerifiers = [machineTokens("svk", "api_key"), ownAccessTokens(() => [publicUrl(), ...resources("/v1")])];
  if (config.oidc !== null) apiVerifiers.push(externalAccessTokens(config.oidc, orm, membershipResolver));
  const gatewayVerifiers = [
    machineTokens("svp", "personal_access_token"),
    machineTokens("svg", "gateway_token"),
    ownAccessTokens(() => resources("/mcp")),
  ];
  const authenticator = new Authenticator(apiVerifiers, invalidTokens);
  const gatewayAuthenticator = new Authenticator(gatewayVerifiers, invalidTokens);
  clearOnChange(authenticator);
  clearOnChange(gatewayAuthenticator);
  return { authenticator, gatewayAuthenticator, membershipResolver };
}

/**
 * A token of a dashboard page (`jwt`) names its session, is valid as long as the session, and has every scope. It names the
 * organization that was active when it was issued, because the session may switch to another one meanwhile. A token of
 * an OAuth client (`at+jwt`) is independent of any session and valid while the client is connected. The user consented to
 * its scope and its organization.
 */
function resolveOwnCaller(membershipResolver: MembershipResolver, claims: AccessTokenClaims): Promise<Caller | null> {
  const { sub: userId, iat: issuedAt, type, scope } = claims;
  const sessionId = readText(claims["sid"]);
  const clientId = readText(claims["client_id"]);
  const user = { userId, issuedAt, orgId: readText(claims["org_id"]), issuedOrgId: readText(claims["active_org"]) };
  if (type === "at+jwt" && clientId !== null)
    return membershipResolver.resolveCaller({ ...user, sessionId: null, clientId, scope: readScope(scope) });
  if (type === "at+jwt" || sessionId === null) return Promise.resolve(null);
  return membershipResolver.resolveCaller({ ...user, sessionId, clientId: null, scope: "everything" });
}

function readText(claim: unknown): string | null {
  return typeof claim === "string" ? claim : null;
}

/** The scope that a `scope` claim grants; `null` when the user consented to no scope of the service. */
function readScope(claim: unknown): Scope | null {
  return typeof claim === "string" ? highestScope(claim) : null;
}

function externalAccessTokens(
  { issuer, audience }: NonNullable<Config["oidc"]>,
  orm: Orm,
  membershipResolver: MembershipResolver,
): BearerTokenVerifier {
  const keys = new RemoteJwks(issuer);
  const users = new ExternalUsers(orm);
  return new AccessTokenVerifier({
    issuer: () => issuer,
    audiences: () => [audience],
    getKey: (id) => keys.getKey(id),
    resolveCaller: async (claims) =>
      membershipResolver.resolveCaller({
        userId: await users.resolveUserId(claims),
        sessionId: null,
        orgId: null,
        issuedAt: claims.iat,
        scope: "everything",
        clientId: null,
        issuedOrgId: null,
      }),
  });
}
