import type { EntityManager } from "@mikro-orm/core";
import type { Caller } from "../shared/caller.ts";
import { ServiceError, type ErrorCode } from "../shared/errors.ts";
import { isUuid } from "../shared/ids.ts";
import { recordEvent } from "./record-event.ts";

export interface RecordCallDeps {
  em: EntityManager;
  reportInternalError(err: unknown, what: string): void;
}

export interface AuditedCall {
  caller: Caller;
  /** A dotted procedure, such as `apps.delete`. */
  action: string;
  /** The client address; `null` when the call did not come over the network. */
  address: string | null;
  input: unknown;
}

/** The return value of a call, or what it threw. */
export type CallOutcome = { output: unknown } | { error: unknown };

/** These errors change nothing and would fill the log. */
const UNRECORDED_ERRORS: readonly ErrorCode[] = ["invalid", "rate_limited"];

/**
 * Records a call that succeeded or was refused. Does not record invalid input, rate limits and internal errors. A
 * failure to record does not fail the call.
 */
export async function recordCall(
  deps: RecordCallDeps,
  { caller, action, address, input }: AuditedCall,
  outcome: CallOutcome,
): Promise<void> {
  const failed = "error" in outcome;
  if (failed && (!(outcome.error instanceof ServiceError) || UNRECORDED_ERRORS.includes(outcome.error.code))) return;
  try {
    await recordEvent(deps.em, {
      action,
      address,
      outcome: failed ? "refused" : "done",
      orgId: caller.orgId,
      userId: caller.userId,
      credential: caller.credential,
      target: findId(input) ?? (failed ? null : findId(outcome.output)),
    });
  } catch (error) {
    deps.reportInternalError(error, "cannot write the audit log");
  }
}

/** Runs a call outside of a router and records it. */
export async function runAudited<T>(deps: RecordCallDeps, call: AuditedCall, run: () => Promise<T>): Promise<T> {
  try {
    const output = await run();
    await recordCall(deps, call, { output });
    return output;
  } catch (error) {
    await recordCall(deps, call, { error });
    throw error;
  }
}

/** Only ids are recorded. Any other field of an input or output may contain a secret. */
function findId(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  const { id, app_id: appId } = value as { id?: unknown; app_id?: unknown };
  return [id, appId].find(isUuid) ?? null;
}
