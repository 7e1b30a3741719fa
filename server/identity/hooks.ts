import type { BetterAuthOptions, GenericEndpointContext } from "better-auth";
import { APIError, createAuthMiddleware, getSessionFromCtx } from "better-auth/api";
import { type Happening, recordEvent } from "../../domain/audit/record-event.ts";
import { RateLimited } from "../../domain/errors.ts";
import { claimFirstOrganization, claimOrganization } from "../../domain/organizations/replace-placeholder.ts";
import { countRefusedSignIn, limitSignIns, type SignInAttempt } from "../../domain/people/limit-sign-ins.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import { rowsOf } from "../../domain/tables.ts";
import { revokeOrphanedTokens } from "../../domain/tokens/revoke-orphaned-tokens.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { ADDRESS_HEADER } from "./options.ts";
import { isNativeClient } from "./native-client.ts";
import { signUpPolicy } from "./sign-up-policy.ts";

export interface HookDeps {
  orm: Orm;
  signUp: Config["signUp"];
  /** Counts refused sign-ins, for all processes. */
  counter: Counter;
  accessChanges: ChangeFeed;
}

/** The part of an endpoint's context that the hooks read. */
interface Call {
  path: string;
  method?: string | undefined;
  body?: unknown;
  headers?: Headers | undefined;
  context: {
    returned?: unknown;
    newSession?: Session | null;
  };
}

interface Session {
  user: { id: string };
  session: { id: string; activeOrganizationId?: string | null };
}

const SIGN_IN = "/sign-in/email";
/** After these, somebody may no longer be what the processes remember. */
const CHANGES_ACCESS = /^\/(organization\/|change-password|reset-password|sign-out|revoke-|delete-user|oauth2\/revoke)/;

/** What the service adds to better-auth's own conduct: limits, the audit log, and prompt effect in every process. */
export function identityHooks(deps: HookDeps): Pick<BetterAuthOptions, "hooks" | "databaseHooks"> {
  return {
    hooks: {
      before: createAuthMiddleware((context) => beforeCall(deps, context)),
      after: createAuthMiddleware((context) => afterCall(deps, context as never)),
    },
    databaseHooks: {
      user: {
        create: {
          before: signUpPolicy(deps.signUp),
          // It runs when the sign-up is committed.
          after: async ({ id }) => {
            await deps.orm.em.fork().transactional((em) => claimFirstOrganization(rowsOf(em), id));
            deps.accessChanges.announce(id);
          },
        },
      },
    },
  };
}

async function beforeCall(deps: HookDeps, call: Call): Promise<{ context: { body: object } } | undefined> {
  const { path } = call;
  const body = (call.body ?? {}) as Record<string, unknown>;
  if (path === SIGN_IN) await refuseTooManySignIns(deps, attemptOf(call));
  // Whoever changes a password may do so because somebody else knew it.
  if (path === "/change-password") return { context: { body: { ...body, revokeOtherSessions: true } } };
  if (path === "/oauth2/register" && isNativeClient(body))
    return { context: { body: { ...body, application_type: "native" } } };
  return undefined;
}

async function refuseTooManySignIns({ counter, orm }: HookDeps, attempt: SignInAttempt): Promise<void> {
  try {
    await limitSignIns({ counter, db: rowsOf(orm.em.fork()) }, attempt);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const headers = { "retry-after": String(error.retryAfterSeconds) };
    throw new APIError("TOO_MANY_REQUESTS", { message: error.message }, headers);
  }
}

async function afterCall(deps: HookDeps, context: GenericEndpointContext): Promise<void> {
  const call = context as unknown as Call;
  const { path, method } = call;
  if (method === "GET") return;
  const { returned } = call.context;
  const refused = returned instanceof APIError;
  const session = await getSessionFromCtx(context).catch(() => null);
  if (path === SIGN_IN && refused) await countRefusedSignIn(deps.counter, attemptOf(call));
  if (!refused && path === "/organization/accept-invitation") await takePlace(deps, returned);
  if (!refused && path === "/change-password") await revokeGrants(deps, session);
  if (!refused && path.startsWith("/organization/")) await revokeOrphanedTokens(rowsOf(deps.orm.em.fork()));
  if (CHANGES_ACCESS.test(path)) deps.accessChanges.announce(session?.user.id ?? "");
  if (!refused || path.startsWith("/sign-")) await recordEvent(deps.orm.em, await happeningOf(deps, call, session));
}

/** Whoever accepts to own an organization that an operator set up takes the place that was kept for them. */
async function takePlace({ orm }: HookDeps, returned: unknown): Promise<void> {
  const { member } = returned as { member?: { organizationId: string; userId: string; role: string } };
  if (member?.role !== "owner") return;
  await orm.em.fork().transactional((em) => claimOrganization(rowsOf(em), member.organizationId, member.userId));
}

/** A client that a person let in must not go on after the password was changed. */
async function revokeGrants({ orm }: HookDeps, session: Session | null): Promise<void> {
  if (session === null) return;
  await rowsOf(orm.em.fork())
    .updateTable("auth.oauthRefreshToken")
    .set({ revoked: new Date().toISOString() })
    .where("userId", "=", session.user.id)
    .where("revoked", "is", null)
    .execute();
}

async function userIdOf({ orm }: HookDeps, { email }: SignInAttempt): Promise<string | null> {
  const people = rowsOf(orm.em.fork()).selectFrom("auth.user").select("id");
  return (await people.where("email", "=", email.toLowerCase()).executeTakeFirst())?.id ?? null;
}

function attemptOf({ body, headers }: Call): SignInAttempt {
  const email = (body as { email?: unknown } | undefined)?.email;
  return { address: addressOf(headers), email: typeof email === "string" ? email : "" };
}

function addressOf(headers: Headers | undefined): string {
  return headers?.get(ADDRESS_HEADER) ?? "unknown";
}

const ID_FIELDS = ["memberIdOrEmail", "memberId", "invitationId", "organizationId", "client_id", "userCode"];
const UUID = /^[0-9a-f-]{36}$/i;

async function happeningOf(deps: HookDeps, call: Call, before: Session | null): Promise<Happening> {
  const { path, body, headers, context } = call;
  // Who signs in has not proven anything yet, whatever session the browser had before.
  const session = context.newSession ?? (path === SIGN_IN ? null : before);
  const fields = (body ?? {}) as Record<string, unknown>;
  // Nothing but ids: what else a form holds may be a secret, or lead to one.
  const target = ID_FIELDS.map((name) => fields[name]).find((id) => typeof id === "string" && UUID.test(id));
  const organization = fields["organizationId"] ?? session?.session.activeOrganizationId;
  return {
    action: path.slice(1),
    outcome: context.returned instanceof APIError ? "refused" : "done",
    orgId: typeof organization === "string" && UUID.test(organization) ? organization : null,
    userId: session?.user.id ?? (path === SIGN_IN ? await userIdOf(deps, attemptOf(call)) : null),
    credential: session === null ? null : { kind: "session", id: session.session.id },
    target: typeof target === "string" ? target : null,
    address: addressOf(headers),
  };
}
