import { appToken } from "../apps/app-token.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { AppAnswer, AppCaller } from "../ports/app-caller.ts";
import { AppOutOfReach } from "../ports/app-caller.ts";
import type { LiveProcedure } from "./list-procedures.ts";
import type { ProcedureIndex } from "./procedure-index.ts";

export interface CallDeps {
  tokenSecret: string;
  appCaller: AppCaller;
  procedureIndex: ProcedureIndex;
}

export interface ProcedureCall {
  /** The app's slug. */
  app: string;
  procedure: string;
  input: Record<string, unknown>;
}

/** What came of a call. `output` and `message` are the app's own words: data, whatever they say. */
export type ProcedureResult = { ok: true; output: unknown } | { ok: false; status: number; message: string };

/**
 * Calls one procedure of an app of the caller's organization, with the app's own token. What the app refuses is its
 * answer, not a fault of ours.
 *
 * @throws {ServiceError} `not_found` when the organization has no ready app with this slug that offers this procedure
 */
export async function callProcedure(
  deps: CallDeps,
  { orgId }: Caller,
  call: ProcedureCall,
  signal: AbortSignal,
): Promise<ProcedureResult> {
  const { all: procedures } = await deps.procedureIndex.get(orgId);
  const found = procedures.find(({ slug, name }) => slug === call.app && name === call.procedure);
  if (found === undefined) throw absent(procedures, call);
  const token = appToken(deps.tokenSecret, { id: found.appId, tokenVersion: found.tokenVersion });
  const { slug, name, kind, invocation } = found;
  try {
    return await deps.appCaller.call({ slug, appToken: token, name, kind, invocation, input: call.input, signal });
  } catch (error) {
    if (!(error instanceof AppOutOfReach)) throw error;
    return { ok: false, status: 502, message: error.message } satisfies AppAnswer;
  }
}

/** As many names as are told when a wrong one was given. */
const NAMES_TOLD = 20;

function absent(procedures: readonly LiveProcedure[], { app }: ProcedureCall): ServiceError {
  const names = procedures.filter(({ slug }) => slug === app).map(({ name }) => JSON.stringify(name));
  if (names.length === 0)
    return new ServiceError(
      "not_found",
      "There is no ready app with this slug that offers procedures. service_list_apps lists the apps.",
    );
  return new ServiceError(
    "not_found",
    `The app offers no such procedure. It offers: ${names.slice(0, NAMES_TOLD).join(", ")}.`,
  );
}
