import type { BetterAuthOptions, GenericEndpointContext } from "better-auth";
import { APIError, createAuthMiddleware, getSessionFromCtx } from "better-auth/api";
import { recordEvent } from "../../domain/audit/record-event.ts";
import { RateLimited } from "../../domain/shared/errors.ts";
import { claimFirstOrganization, claimOrganization } from "../../domain/organizations/claim-organization.ts";
import { revokeRefreshTokens } from "../../domain/users/revoke-refresh-tokens.ts";
import { countRefusedSignIn, limitSignIns, type SignInAttempt } from "../../domain/users/limit-sign-ins.ts";
import { touchOAuthClient } from "../../domain/users/touch-oauth-client.ts";
import { cancelOrphanedInvitations } from "../../domain/users/cancel-orphaned-invitations.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { revokeOrphanedTokens } from "../../domain/tokens/revoke-orphaned-tokens.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { tokenRequestClient } from "./token-request-client.ts";
import { currentTransaction } from "./current-transaction.ts";
import { attemptOf, type Call, auditEventFromCall, isRefusal, type Session, SIGN_IN } from "./audit-from-call.ts";
import { isNativeClient } from "./client-registration-rules.ts";
import { redactOrganization, refuseForeign } from "./redact-organization.ts";
import { validateAuthInput } from "./validate-auth-input.ts";
import { mayAskToSignUp, signUpPolicy } from "./sign-up-policy.ts";

export interface HookDeps {
  orm: Orm;
  signUp: Config["signUp"];
  /** Counts refused sign-ins, for all processes. */
  counter: Counter;
  accessChanges: ChangeFeed;
}

const SIGN_UP = "/sign-up/email";
const REGISTER = "/oauth2/register";
const TOKEN = "/oauth2/token";
const CHANGE_PASSWORD = "/change-password";
const CONSENT = "/oauth2/consent";
/** After these, somebody may no longer be what the processes remember. */
const CHANGES_ACCESS = /^\/(organization\/|change-password|sign-out|revoke-)/;

/** After these, somebody's place in an organization is another one, or none. */
const CHANGES_MEMBERS = ["remove-member", "leave", "update-member-role"].map((name) => `/organization/${name}`);
/** A provider is asked once who somebody is. What more it would let us do with their account there is not kept. */
const NO_TOKENS = {
  ...{ accessToken: null, refreshToken: null, idToken: null },
  ...{ accessTokenExpiresAt: null, refreshTokenExpiresAt: null },
};
/** Questions, although they are asked with POST. */
const READS = ["/organization/has-permission", "/organization/check-slug"];

/** What the service adds to better-auth's own conduct: limits, the audit log, and prompt effect in every process. */
export function identityHooks(deps: HookDeps): Pick<BetterAuthOptions, "hooks" | "databaseHooks"> {
  return {
    hooks: {
      before: createAuthMiddleware((context) => beforeCall(deps, context as never)),
      after: createAuthMiddleware((context) => afterCall(deps, context as never)),
    },
    databaseHooks: {
      user: {
        create: {
          before: signUpPolicy(deps),
          // It runs when the sign-up is committed.
          after: async ({ id }) => deps.accessChanges.announce(id),
        },
      },
      // A way to sign in comes after the person, in the same transaction.
      account: {
        create: {
          before: async ({ userId }) => {
            await claimPlace(userId);
            return { data: NO_TOKENS };
          },
        },
      },
    },
  };
}

/** Gives a person the first organization together with their account, if it still waits for its owner: both or neither. */
async function claimPlace(userId: string): Promise<void> {
  const db = currentTransaction();
  if (db !== undefined) await claimFirstOrganization(db, userId);
}

async function beforeCall(
  deps: HookDeps,
  context: GenericEndpointContext,
): Promise<{ context: { body: object } } | undefined> {
  const call = context as unknown as Call;
  const { path } = call;
  const body = (call.body ?? {}) as Record<string, unknown>;
  validateAuthInput(call);
  if (call.method === "GET" && path.startsWith("/organization/"))
    await refuseForeign(queryBuilderOf(deps.orm.em.fork()), call, await sessionIn(context));
  if (path === SIGN_UP) await mayAskToSignUp(deps, context);
  if (path === SIGN_IN || path === CHANGE_PASSWORD) await refuseTooManySignIns(deps, await attemptIn(context));
  // The endpoint ends the session, and the audit log has to know whose it was.
  if (path === "/sign-out") await sessionIn(context);
  // Whoever changes a password may do so because somebody else knew it.
  if (path === CHANGE_PASSWORD) return { context: { body: { ...body, revokeOtherSessions: true } } };
  // The page shows scopes: whoever agrees to these has not agreed to what a client asks for beside them.
  if (path === CONSENT) return { context: { body: { ...body, claims: "{}" } } };
  if (path === REGISTER && isNativeClient(body)) return { context: { body: { ...body, application_type: "native" } } };
  return undefined;
}

async function refuseTooManySignIns({ counter, orm }: HookDeps, attempt: SignInAttempt): Promise<void> {
  try {
    await limitSignIns({ counter, db: queryBuilderOf(orm.em.fork()) }, attempt);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const headers = { "retry-after": String(error.retryAfterSeconds) };
    throw new APIError("TOO_MANY_REQUESTS", { message: error.message }, headers);
  }
}

/** Whose password is tried: that of the form, or of who is signed in. */
async function attemptIn(context: GenericEndpointContext): Promise<SignInAttempt> {
  const attempt = attemptOf(context);
  if (context.path === SIGN_IN) return attempt;
  return { ...attempt, email: (await sessionIn(context))?.user.email ?? "" };
}

function sessionIn(context: GenericEndpointContext): Promise<Session | null> {
  return getSessionFromCtx(context).catch(() => null);
}

async function afterCall(deps: HookDeps, context: GenericEndpointContext): Promise<object | undefined> {
  const call = context as unknown as Call;
  const { path, method } = call;
  const db = queryBuilderOf(deps.orm.em.fork());
  if (method === "GET" && path.startsWith("/organization/"))
    return redactOrganization(db, call, await sessionIn(context));
  // A provider sends people back with a plain link.
  if ((method === "GET" && !path.startsWith("/callback/")) || READS.includes(path)) return undefined;
  const session = await sessionIn(context);
  const { returned, newSession } = call.context;
  const refused = isRefusal(returned);
  const guessed = refused && (path === SIGN_IN || isWrongPassword(path, returned));
  if (guessed) await countRefusedSignIn(deps.counter, await attemptIn(context));
  if (!refused) await settle(deps, call, session);
  if (!refused && session !== null && CHANGES_ACCESS.test(path)) deps.accessChanges.announce(session.user.id);
  if (method !== "GET" ? !refused || path.startsWith("/sign-") : newSession != null)
    await recordEvent(deps.orm.em, await auditEventFromCall(db, call, session));
  return undefined;
}

function isWrongPassword(path: string, { body }: APIError): boolean {
  return path === CHANGE_PASSWORD && (body as { code?: unknown } | undefined)?.code === "INVALID_PASSWORD";
}

/** What follows from a call that was carried out. */
async function settle(deps: HookDeps, call: Call, session: Session | null): Promise<void> {
  const { path, context } = call;
  const db = queryBuilderOf(deps.orm.em.fork());
  const client = path === TOKEN ? tokenRequestClient(call) : null;
  if (client !== null) await touchOAuthClient(db, client);
  if (path === "/organization/accept-invitation") await takePlace(deps, context.returned);
  if (path === CHANGE_PASSWORD && session !== null) await revokeRefreshTokens(db, session.user.id);
  if (!CHANGES_MEMBERS.includes(path)) return;
  await revokeOrphanedTokens(db);
  await cancelOrphanedInvitations(db);
}

/** Whoever accepts to own an organization that an operator set up takes the place that was kept for them. */
async function takePlace({ orm }: HookDeps, returned: unknown): Promise<void> {
  const { member } = returned as { member?: { organizationId: string; userId: string; role: string } };
  if (member?.role !== "owner") return;
  await orm.em
    .fork()
    .transactional((em) => claimOrganization(queryBuilderOf(em), member.organizationId, member.userId));
}
