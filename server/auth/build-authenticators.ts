import { type Caller, SCOPES, type Scope, type TokenKind as MachineKind } from "../../domain/shared/caller.ts";
import { Standings } from "../../domain/users/membership-resolver.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import { rowsOf } from "../../domain/database-types.ts";
import type { TokenPrefix } from "../../domain/tokens/token-format.ts";
import { TokenVerifier } from "../../domain/tokens/verify-token.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { MemoryCounter } from "../drivers/counter/memory.ts";
import { type AccessClaims, AccessTokens } from "./access-token.ts";
import { Authenticator, machineTokenKind, type TokenKind } from "./authenticate.ts";
import { ForeignKeys } from "./remote-jwks.ts";
import { ForeignPeople } from "./external-users.ts";
import { OwnKeys } from "./local-jwks.ts";

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
  standings: Standings;
}

export function openAccess({ orm, config, accessChanges, publicUrl }: AccessDeps): Access {
  // Each process counts for itself: who calls must be known also while Redis is out of reach.
  const wrongTokens = new MemoryCounter();
  const db = rowsOf(orm.em.fork());
  const standings = new Standings(db);
  const onChange = (forget: () => void): void => void accessChanges.listen(forget, forget);
  onChange(() => standings.forget());
  const machine = (prefix: TokenPrefix, kind: MachineKind): TokenKind => {
    const verifier = new TokenVerifier(db, kind);
    onChange(() => verifier.forget());
    return machineTokenKind(prefix, verifier);
  };
  const keys = new OwnKeys(db);
  const own = (audiences: () => string[]): TokenKind =>
    new AccessTokens({
      issuer: publicUrl,
      audiences,
      keyOf: (id) => keys.keyOf(id),
      callerOf: (claims) => ownCaller(standings, claims),
    });
  const rest = [machine("svk", "api_key"), own(() => [publicUrl(), `${publicUrl()}/v1`])];
  if (config.oidc !== null) rest.push(foreign(config.oidc, orm, standings));
  const gateway = [
    machine("svp", "personal_access_token"),
    machine("svg", "gateway_token"),
    own(() => [`${publicUrl()}/mcp`]),
  ];
  return {
    authenticator: new Authenticator(rest, wrongTokens),
    gatewayAuthenticator: new Authenticator(gateway, wrongTokens),
    standings,
  };
}

/**
 * A token that a signed-in page asked for lives as long as its session. One that OAuth gave to a client outlives it, and
 * may do what the person consented to.
 */
function ownCaller(standings: Standings, { sub, sid, iat, type, scope }: AccessClaims): Promise<Caller | null> {
  const person = { userId: sub, issuedAt: iat };
  if (type === "at+jwt") return standings.callerOf({ ...person, sessionId: null, scope: scopeOf(scope) });
  if (typeof sid !== "string") return Promise.resolve(null);
  return standings.callerOf({ ...person, sessionId: sid, scope: "everything" });
}

function scopeOf(granted: unknown): Scope {
  const names = typeof granted === "string" ? granted.split(" ") : [];
  return SCOPES.findLast((scope) => names.includes(scope)) ?? "read";
}

function foreign({ issuer, audience }: NonNullable<Config["oidc"]>, orm: Orm, standings: Standings): TokenKind {
  const keys = new ForeignKeys(issuer);
  const people = new ForeignPeople(orm);
  return new AccessTokens({
    issuer: () => issuer,
    audiences: () => [audience],
    keyOf: (id) => keys.keyOf(id),
    callerOf: async (claims) =>
      standings.callerOf({
        userId: await people.userIdOf(claims),
        sessionId: null,
        issuedAt: claims.iat,
        scope: "everything",
      }),
  });
}
