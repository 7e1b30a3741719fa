import { appToken } from "../apps/app-token.ts";
import { requireApp } from "../apps/get-app.ts";
import type { Db } from "../database-types.ts";
import { AppCallFailed, type AppCaller, type ProcedureResult } from "../ports/app-caller.ts";
import type { ProcedureKind } from "../ports/procedure-discovery.ts";
import type { Caller } from "../shared/caller.ts";
import { InsufficientScope, ServiceError } from "../shared/errors.ts";
import { askForName, findNearestNames } from "../shared/nearest-names.ts";
import { DEFAULT_SCOPES, reachesScope } from "../shared/scopes.ts";
import { formatAppErrorMessage } from "./app-error-message.ts";
import type { LiveProcedure } from "./list-procedures.ts";
import type { ProcedureIndex } from "./procedure-index.ts";
import { reviveInput } from "./revive-input.ts";

export interface CallDeps {
  tokenSecret: string;
  appCaller: AppCaller;
  procedureIndex: ProcedureIndex;
}

export interface ProcedureCall {
  /** The app's slug. */
  app: string;
  procedure: string;
  /** Any value; `undefined` is a call without input. */
  input: unknown;
}

/**
 * Calls one procedure of an app of the caller's organization, with the app's own token. An error response of the app is
 * a result, not an internal error.
 *
 * @throws {ServiceError} `not_found` when the organization has no ready app with this slug that offers this procedure
 * @throws {InsufficientScope} when the scope of the caller does not permit calling a procedure of this kind
 */
export async function callProcedure(
  deps: CallDeps,
  caller: Caller,
  { app, procedure, input }: ProcedureCall,
  signal: AbortSignal,
): Promise<ProcedureResult> {
  const { all: procedures } = await deps.procedureIndex.get(caller.orgId);
  const found = procedures.find(({ slug, name }) => slug === app && name === procedure);
  if (found === undefined) throw notFound(procedures, app, procedure);
  return callFound(deps, caller, found, input, signal);
}

/**
 * As `callProcedure`, for an app by its id.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app, or its live deployment has no such procedure
 * @throws {InsufficientScope} when the scope of the caller does not permit calling a procedure of this kind
 */
export async function callAppProcedure(
  deps: CallDeps & { db: Db },
  caller: Caller,
  { id, name, input }: { id: string; name: string; input: unknown },
  signal: AbortSignal,
): Promise<ProcedureResult> {
  await requireApp(deps.db, { orgId: caller.orgId, id });
  const { all } = await deps.procedureIndex.get(caller.orgId);
  const procedures = all.filter(({ appId }) => appId === id);
  const found = procedures.find((procedure) => procedure.name === name);
  if (found !== undefined) return callFound(deps, caller, found, input, signal);
  const names = procedures.map((procedure) => procedure.name);
  throw names.length === 0
    ? new ServiceError("not_found", "The app has no procedures. Deploy a version of it that offers some.")
    : procedureNotFound(names, name);
}

async function callFound(
  deps: CallDeps,
  caller: Caller,
  found: LiveProcedure,
  input: unknown,
  signal: AbortSignal,
): Promise<ProcedureResult> {
  const error = getScopeError(caller, found.kind);
  if (error !== null) throw error;
  const token = appToken(deps.tokenSecret, { id: found.appId, tokenVersion: found.tokenVersion });
  const { slug, deploymentId, name, kind, invocation, inputSchema } = found;
  const hasJsTypes = invocation.via === "trpc" && invocation.transformer === "superjson";
  const revived = hasJsTypes ? reviveInput(input, inputSchema) : input;
  try {
    const call = { slug, deploymentId, appToken: token, name, kind, invocation, input: revived, signal };
    const result = await deps.appCaller.call(call);
    return result.ok ? result : { ...result, message: formatAppErrorMessage(result, inputSchema) };
  } catch (error) {
    if (!(error instanceof AppCallFailed)) throw error;
    return { ok: false, status: 502, message: error.message };
  }
}

/** Returns the error for a caller whose scope does not permit calling procedures of this kind; `null` for any other. */
export function getScopeError({ scope }: Caller, kind: ProcedureKind): InsufficientScope | null {
  const required = DEFAULT_SCOPES[kind];
  return reachesScope(scope, required) ? null : new InsufficientScope(required, scope);
}

const MAX_SUGGESTED_NAMES = 20;

function notFound(procedures: readonly LiveProcedure[], app: string, procedure: string): ServiceError {
  const names = procedures.filter(({ slug }) => slug === app).map(({ name }) => name);
  if (names.length === 0) {
    const nearest = askForName(findNearestNames(app, new Set(procedures.map(({ slug }) => slug))));
    const message = `No ready app with this slug offers procedures.${nearest} service_list_apps lists the apps.`;
    return new ServiceError("not_found", message);
  }
  return procedureNotFound(names, procedure);
}

function procedureNotFound(names: readonly string[], procedure: string): ServiceError {
  const nearest = askForName(findNearestNames(procedure, names));
  return new ServiceError(
    "not_found",
    `The app has no procedure with this name.${nearest} Its procedures: ${formatNames(names)}.`,
  );
}

/** Formats names of procedures, which are text of an app. */
export function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_SUGGESTED_NAMES).map((name) => JSON.stringify(name));
  return shown.join(", ");
}
