import type { BetterAuthOptions, GenericEndpointContext } from "better-auth";
import { APIError, createAuthMiddleware, getSessionFromCtx } from "better-auth/api";
import { recordEvent } from "../../domain/audit/record-event.ts";
import { RateLimited } from "../../domain/shared/errors.ts";
import { countFailedSignIn, limitSignIns, type SignInAttempt } from "../../domain/users/limit-sign-ins.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { auditEventFromCall } from "./audit-from-call.ts";
import { type AuthCall, type AuthSession, type Fields, readFields, readSignInAttempt, SIGN_IN } from "./auth-call.ts";
import { isErrorResponse } from "./is-error-response.ts";
import { normalizeClientRegistration, removeEmptyMembers } from "./client-registration-rules.ts";
import { chooseOrganization } from "./consented-organization.ts";
import { withDefaultResource } from "./default-resource.ts";
import { removeUnknownScopes } from "./known-scopes.ts";
import { removeDpopKey } from "./ignored-dpop.ts";
import { requireConsentForPrograms } from "./private-use-redirects.ts";
import { redactOrganization, rejectForeignOrganization } from "./redact-organization.ts";
import { applySideEffects, claimFirstOrganizationOnSignUp } from "./side-effects.ts";
import { checkSignUpPolicy, signUpPolicy } from "./sign-up-policy.ts";
import { validateAuthInput } from "./validate-auth-input.ts";

export interface HookDeps {
  orm: Orm;
  signUp: Config["signUp"];
  /** Counts failed sign-ins across all processes. */
  counter: Counter;
  accessChanges: ChangeFeed;
  publicUrl(): string;
}

const SIGN_UP = "/sign-up/email";
const SIGN_OUT = "/sign-out";
const REGISTER_CLIENT = "/oauth2/register";
const CHANGE_PASSWORD = "/change-password";
const AUTHORIZE = "/oauth2/authorize";
const REQUEST_DEVICE_CODE = "/device/code";
const CONSENT = "/oauth2/consent";
/** Endpoints after which the cached memberships and sessions of a user may be outdated. */
const CHANGES_ACCESS = /^\/(organization\/|change-password|sign-out|revoke-)/;
/** Endpoints at which a client requests scopes for a user. */
const REQUESTS_SCOPES = [REGISTER_CLIENT, AUTHORIZE, REQUEST_DEVICE_CODE];
/** Endpoints that change nothing, although their method is POST. */
const READS = ["/organization/has-permission", "/organization/check-slug"];
/** A social provider only identifies the user. The service stores none of the tokens that the provider issues. */
const NO_PROVIDER_TOKENS = {
  accessToken: null,
  refreshToken: null,
  idToken: null,
  accessTokenExpiresAt: null,
  refreshTokenExpiresAt: null,
};

/**
 * Adds to better-auth: rate limits, the sign-up policy, the audit log, and notices to every process about changed
 * access rights.
 */
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
          // better-auth runs this after the commit of the sign-up.
          after: async ({ id }) => deps.accessChanges.announce(id),
        },
      },
      // better-auth creates the account after the user, in the same transaction.
      account: {
        create: {
          before: async ({ userId }) => {
            await claimFirstOrganizationOnSignUp(userId);
            return { data: NO_PROVIDER_TOKENS };
          },
        },
      },
    },
  };
}

async function beforeCall(
  deps: HookDeps,
  context: GenericEndpointContext,
): Promise<{ context: { body?: object; query?: object } } | undefined> {
  const call = context as unknown as AuthCall;
  const { path, method } = call;
  const body = readFields(call.body);
  if (path === REGISTER_CLIENT) removeEmptyMembers(body);
  if (REQUESTS_SCOPES.includes(path)) for (const request of [call.body, call.query]) removeUnknownScopes(request);
  validateAuthInput(call);
  if (path === AUTHORIZE) for (const request of [call.body, call.query]) removeDpopKey(request);
  if (method === "GET" && path.startsWith("/organization/"))
    await rejectForeignOrganization(queryBuilderOf(deps.orm.em.fork()), call, await findSession(context));
  if (path === SIGN_UP) await checkSignUpPolicy(deps, context);
  if (path === SIGN_IN || path === CHANGE_PASSWORD) await checkSignInLimit(deps, await readAttempt(context));
  // The endpoint deletes the session, and better-auth keeps the result of this lookup for the audit log.
  if (path === SIGN_OUT) await findSession(context);
  // The old password may be known to an attacker, so their sessions must end too.
  if (path === CHANGE_PASSWORD) return { context: { body: { ...body, revokeOtherSessions: true } } };
  // The consent page shows scopes. A user who consents to them has not consented to separately requested claims.
  if (path === CONSENT) await readOrganizationChoice(deps, context, body);
  if (path === CONSENT) return { context: { body: { ...body, claims: "{}" } } };
  if (path === AUTHORIZE && method === "POST") return { context: { body: completeAuthorization(deps, body) } };
  if (path === AUTHORIZE) return { context: { query: completeAuthorization(deps, readFields(call.query)) } };
  if (path === REQUEST_DEVICE_CODE) return { context: { body: withDefaultResource(body, deps.publicUrl()) } };
  if (path === REGISTER_CLIENT) return { context: { body: normalizeClientRegistration(body) } };
  return undefined;
}

function completeAuthorization({ publicUrl }: HookDeps, request: Fields): Fields {
  return requireConsentForPrograms(withDefaultResource(request, publicUrl()));
}

async function readOrganizationChoice({ orm }: HookDeps, context: GenericEndpointContext, body: Fields): Promise<void> {
  const session = await findSession(context);
  if (session !== null) await chooseOrganization(queryBuilderOf(orm.em.fork()), body, session.user.id);
}

async function checkSignInLimit({ counter, orm }: HookDeps, attempt: SignInAttempt): Promise<void> {
  try {
    await limitSignIns({ counter, db: queryBuilderOf(orm.em.fork()) }, attempt);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const headers = { "retry-after": String(error.retryAfterSeconds) };
    throw new APIError("TOO_MANY_REQUESTS", { message: error.message }, headers);
  }
}

/** The account whose password is tried: the one in the form, or the one that is signed in. */
async function readAttempt(context: GenericEndpointContext): Promise<SignInAttempt> {
  const attempt = readSignInAttempt(context);
  if (context.path === SIGN_IN) return attempt;
  return { ...attempt, email: (await findSession(context))?.user.email ?? "" };
}

function findSession(context: GenericEndpointContext): Promise<AuthSession | null> {
  return getSessionFromCtx(context).catch(() => null);
}

async function afterCall(deps: HookDeps, context: GenericEndpointContext): Promise<object | undefined> {
  const call = context as unknown as AuthCall;
  const { path, method } = call;
  const db = queryBuilderOf(deps.orm.em.fork());
  if (method === "GET" && path.startsWith("/organization/"))
    return redactOrganization({ db, publicUrl: deps.publicUrl() }, call, await findSession(context));
  // A GET changes nothing, except the callback of a social provider, which signs the user in.
  if ((method === "GET" && !path.startsWith("/callback/")) || READS.includes(path)) return undefined;
  const session = await findSession(context);
  const { returned, newSession } = call.context;
  const failed = isErrorResponse(returned);
  if (failed && (path === SIGN_IN || isWrongPassword(path, returned)))
    await countFailedSignIn(deps.counter, await readAttempt(context));
  if (!failed) await applySideEffects(deps.orm, call, session);
  if (!failed && session !== null && CHANGES_ACCESS.test(path)) deps.accessChanges.announce(session.user.id);
  const isAudited = method === "GET" ? newSession != null : !failed || path.startsWith("/sign-");
  if (isAudited) await recordEvent({ em: deps.orm.em, db }, await auditEventFromCall(db, call, session));
  return undefined;
}

function isWrongPassword(path: string, { body }: APIError): boolean {
  return path === CHANGE_PASSWORD && readFields(body)["code"] === "INVALID_PASSWORD";
}
