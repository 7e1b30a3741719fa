import { initTRPC, type TRPC_ERROR_CODE_KEY, TRPCError } from "@trpc/server";
import type { OpenApiMeta } from "trpc-to-openapi";
import type { z } from "zod";
import { checkIdempotencyKey, isKnownKey } from "../../domain/apps/idempotency.ts";
import { prepareCallRecord } from "../../domain/audit/record-call.ts";
import { normalizeRepository } from "../../domain/apps/repository-url.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import { ServiceError, type ErrorCode } from "../../domain/shared/errors.ts";
import { runForOrganization } from "../../domain/shared/transaction.ts";
import { addRemainingDeploys, limitDeploys } from "../../domain/rate-limits/limit-deploys.ts";
import { limitRestarts } from "../../domain/rate-limits/limit-restarts.ts";
import { type AccessMeta, getAccessError } from "./access.ts";
import type { Context, Service } from "./context.ts";
import type { ToolAnnotations } from "./tool-annotations.ts";
import { formatError } from "./error-formatter.ts";
import { toServiceError } from "./invalid-input.ts";

/**
 * Makes a procedure a tool of the gateway. The description is for the agent that reads it. By default, the arguments and the result of
 * the tool are the input and the output of the procedure.
 */
export interface ToolMeta {
  name: string;
  title: string;
  description: string;
  annotations: ToolAnnotations;
  /** The arguments. Each is the field of the input with its name, or the one that `fields` names. */
  arguments?: z.ZodObject;
  /** The field of the input for an argument with another name, such as `{ agent_id: "id" }`. */
  fields?: Readonly<Record<string, string>>;
  /** The field of the input that is the agent of the caller, or else the main agent, if the argument for it is missing. */
  ownAgent?: string;
  /** The result. Without `present`, it has those fields of the output that it declares. */
  result?: z.ZodType<object>;
  /** Makes the result from the output, for example within the size limit of a response for an agent. */
  present?(output: object, input: object): object;
  /**
   * Returns a text that changes whenever the tool's result changes, so that the gateway can cache the result; `null` for
   * an input whose result must not be cached. Only for queries that every caller may call, and whose result depends on
   * nothing but the organization and the input.
   */
  resultVersion?(service: Service, caller: Caller, input: object): Promise<string> | null;
}

/** A request body that is a file, not JSON. It is not held in memory. */
export interface StreamedBody {
  /** The field of the input that gets the bytes, as an async iterable. The other fields are path and query parameters. */
  field: string;
  /** The media types that the body can have. */
  contentTypes: readonly string[];
}

/** Additions of ours to what trpc-to-openapi reads. */
interface RestMeta {
  /** trpc-to-openapi documents only 200. */
  successStatus?: number;
  /** The maximum size of the request body, in bytes; by default that of most operations. */
  bodyLimit?: number;
  /** For a request of which one of several fields is required. By default, a body with a required field is. */
  requiresBody?: true;
  /** By default, the body is JSON. */
  streamedBody?: StreamedBody;
  /** The media type of a response that is a file. The output is a `Download`. By default, the response is JSON. */
  download?: string;
}

export type Meta = OpenApiMeta & {
  openapi?: RestMeta;
  tool?: ToolMeta;
  access?: AccessMeta;
  /** Why a tool has no REST operation, and whether the command line has it nevertheless. */
  withoutRest?: { reason: string; isCommand: boolean };
  /** What the command line says about a procedure that only typed RPC has. The others have a REST summary or a tool title. */
  summary?: string;
  /** Whether the audit log has an event for each call. By default, every mutation has. */
  isAudited?: boolean;
  /** Whether the procedure reads the `Idempotency-Key`, so that clients can repeat a call. */
  isRepeatable?: boolean;
};

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({ isDev: false, errorFormatter: ({ shape, error }) => formatError(shape, error) });

export const router = t.router;

const TRPC_CODES = {
  invalid: "BAD_REQUEST",
  unauthenticated: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  plan_limit: "FORBIDDEN",
  not_found: "NOT_FOUND",
  conflict: "CONFLICT",
  key_reused: "UNPROCESSABLE_CONTENT",
  rate_limited: "TOO_MANY_REQUESTS",
  teardown_pending: "INTERNAL_SERVER_ERROR",
  unavailable: "SERVICE_UNAVAILABLE",
} as const satisfies Record<ErrorCode, TRPC_ERROR_CODE_KEY>;

/** Gives every error that the caller can act on the tRPC code that RPC clients understand, and a ServiceError as its cause. */
const mapServiceErrors = t.middleware(async ({ next, meta }) => {
  const result = await next();
  if (result.ok) return result;
  const cause = toServiceError(result.error, meta?.openapi?.path);
  if (cause === null) return result;
  throw new TRPCError({ code: TRPC_CODES[cause.code], message: cause.message, cause });
});

const RESTORED_COPY =
  "This installation was restored from a backup. Its operator must run `npm run admin -- restore --take-over` before it can be changed.";

/** Requires a caller with the scope and the role of the procedure, and records mutations in the audit log. */
const authorize = t.middleware(async ({ ctx, type, meta, path, next, getRawInput }) => {
  const { caller } = ctx;
  if (caller === null) throw ctx.authenticationError ?? new ServiceError("unauthenticated", "Missing or invalid token");
  const error = getAccessError(caller, type, meta?.access);
  if (error === null && type === "mutation" && ctx.service.isRestoredCopy)
    throw new ServiceError("unavailable", RESTORED_COPY);
  if (type !== "mutation" || meta?.isAudited === false) {
    if (error !== null) throw error;
    return next({ ctx: { caller } });
  }
  // An unreadable input is reported when it is validated, after the rate limit has counted the attempt.
  const input = await getRawInput().catch(() => null);
  const record = await prepareCallRecord(ctx.service, { caller, action: path, address: ctx.address, input });
  if (error !== null) {
    await record({ error });
    throw error;
  }
  const result = await next({ ctx: { caller } });
  await record(result.ok ? { output: result.data } : { error: result.error.cause });
  return result;
});

const rejectUnreadableBody = t.middleware(({ ctx, next }) => {
  if (ctx.unreadableBody !== null) throw ctx.unreadableBody;
  return next();
});

/** Counts the database connections of a call as those of its organization. */
const attributeToOrganization = t.middleware(({ ctx: { caller }, next }) =>
  caller === null ? next() : runForOrganization(caller.orgId, () => next()),
);

const authorized = t.procedure.use(mapServiceErrors).use(attributeToOrganization).use(authorize);

/**
 * Counts the attempt before its input is read, and adds to its error how many attempts are left. A repeated call with a
 * known idempotency key does not count.
 */
const deployLimited = authorized.use(async ({ ctx, meta, next }) => {
  const { caller, service, idempotencyKey: key } = ctx;
  if (key !== null && (await isKnownKey(service.em.fork(), caller.orgId, key))) return next();
  const taken = await limitDeploys(service, caller.orgId, ({ quota, ...state }) =>
    ctx.reportRateLimit({ name: "deploy", ...quota }, state),
  );
  const result = await next();
  const error = result.ok ? null : toServiceError(result.error, meta?.openapi?.path);
  if (error === null) return result;
  throw addRemainingDeploys(error, taken);
});

/** Counts the attempt before its input is read. */
const restartLimited = authorized.use(async ({ ctx, next }) => {
  const { caller, service } = ctx;
  await limitRestarts(service.counter, caller.orgId, ({ limit, windowSeconds }, state) =>
    ctx.reportRateLimit({ name: "restarts", limit, windowSeconds }, state),
  );
  return next();
});

const checkedIdempotencyKey = t.middleware(({ ctx: { idempotencyKey: key }, next }) => {
  if (key !== null) checkIdempotencyKey(key);
  return next();
});

/** Accepts a URL of a git host for `repo`, except in REST. A URL that is not accepted is an invalid input like any other. */
const acceptRepositoryUrl = (folderField: string) =>
  t.middleware(({ ctx: { acceptsRepositoryUrls, caller, service }, getRawInput, next }) => {
    if (!acceptsRepositoryUrls || caller === null) return next();
    const { orgId } = caller;
    return next({ getRawInput: async () => normalizeRepository(service, orgId, await getRawInput(), folderField) });
  });

/** The base of every procedure. It requires a credential of an organization. */
export const procedure = authorized.use(rejectUnreadableBody);

/** The base of procedures that restart an app without a build. */
export const restartProcedure = restartLimited.use(checkedIdempotencyKey).use(rejectUnreadableBody);

/** The base of procedures that count against the organization's deploy limit. */
export const deployProcedure = deployLimited.use(checkedIdempotencyKey).use(rejectUnreadableBody);

/** The base of a procedure that deploys a repository. */
export const deployRepositoryProcedure = deployProcedure.use(acceptRepositoryUrl("root_directory"));

/** The base of a procedure that reads a folder of a repository. */
export const readRepositoryProcedure = procedure.use(acceptRepositoryUrl("path"));
