import { type Caller, SCOPES, type Scope, type TokenKind as MachineKind } from "../../domain/shared/caller.ts";
import { MembershipResolver } from "../../domain/users/membership-resolver.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import type { TokenPrefix } from "../../domain/tokens/token-format.ts";
import { TokenVerifier } from "../../domain/tokens/machine-token-verifier.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { MemoryCounter } from "../drivers/counter/memory.ts";
import { type AccessClaims, AccessTokens } from "./access-token-verifier.ts";
import { Authenticator, machineTokenKind, type TokenKind } from "./authenticator.ts";
import { RemoteJwks } from "./remote-jwks.ts";
import { ExternalUsers } from "./external-users.ts";
import { LocalJwks } from "./local-jwks.ts";

export interface AccessDeps {
  orm: Orm;
  config: Pick<Config, "oidc">;
  /** Announces that somebody's rights have changed. */
  accessChanges: ChangeFeed;
  publicUrl(): string;
}

/** Which tokens open which face. */
export interface Access {
  /** REST and typed RPC. */
  authenticator: Authenticator;
  /** The tool gateway. */
  gatewayAuthenticator: Authenticator;
  membershipResolver: MembershipResolver;
}

export function buildAuthenticators({ orm, config, accessChanges, publicUrl }: AccessDeps): Access {
  // Each process counts for itself: who calls must be known also while Redis is out of reach.
  const wrongTokens = new MemoryCounter();
  const db = queryBuilderOf(orm.em.fork());
  const membershipResolver = new MembershipResolver(db);
  const onChange = (forget: () => void): void => void accessChanges.listen(forget, forget);
  onChange(() => membershipResolver.forget());
  const machine = (prefix: TokenPrefix, kind: MachineKind): TokenKind => {
    const verifier = new TokenVerifier(db, kind);
    onChange(() => verifier.forget());
    return machineTokenKind(prefix, verifier);
  };
  const keys = new LocalJwks(db);
  const own = (audiences: () => string[]): TokenKind =>
    new AccessTokens({
      issuer: publicUrl,
      audiences,
      keyOf: (id) => keys.keyOf(id),
      callerOf: (claims) => ownCaller(membershipResolver, claims),
    });
  const rest = [machine("svk", "api_key"), own(() => [publicUrl(), `${publicUrl()}/v1`])];
  if (config.oidc !== null) rest.push(foreign(config.oidc, orm, membershipResolver));
  const gateway = [
    machine("svp", "personal_access_token"),
    machine("svg", "gateway_token"),
    own(() => [`${publicUrl()}/mcp`]),
  ];
  return {
    authenticator: new Authenticator(rest, wrongTokens),
    gatewayAuthenticator: new Authenticator(gateway, wrongTokens),
    membershipResolver,
  };
}

/**
 * A token that a signed-in page asked for lives as long as its session. One that OAuth gave to a client outlives it, and
 * may do what the person consented to.
 */
function ownCaller(
  membershipResolver: MembershipResolver,
  { sub, sid, iat, type, scope }: AccessClaims,
): Promise<Caller | null> {
  const person = { userId: sub, issuedAt: iat };
  if (type === "at+jwt") return membershipResolver.callerOf({ ...person, sessionId: null, scope: scopeOf(scope) });
  if (typeof sid !== "string") return Promise.resolve(null);
  return membershipResolver.callerOf({ ...person, sessionId: sid, scope: "everything" });
}

function scopeOf(granted: unknown): Scope {
  const names = typeof granted === "string" ? granted.split(" ") : [];
  return SCOPES.findLast((scope) => names.includes(scope)) ?? "read";
}

function foreign(
  { issuer, audience }: NonNullable<Config["oidc"]>,
  orm: Orm,
  membershipResolver: MembershipResolver,
): TokenKind {
  const keys = new RemoteJwks(issuer);
  const people = new ExternalUsers(orm);
  return new AccessTokens({
    issuer: () => issuer,
    audiences: () => [audience],
    keyOf: (id) => keys.keyOf(id),
    callerOf: async (claims) =>
      membershipResolver.callerOf({
        userId: await people.userIdOf(claims),
        sessionId: null,
        issuedAt: claims.iat,
        scope: "everything",
      }),
  });
}
