import type { Caller } from "../shared/caller.ts";
import { ServiceError, type ErrorCode } from "../shared/errors.ts";
import { isUuid } from "../shared/ids.ts";
import { isSkillName } from "../skills/skill-rules.ts";
import { hasNameFormat } from "../variables/variable-rules.ts";
import { findNames, NO_NAMES } from "./find-names.ts";
import { type NewAuditEvent, recordEvent, type RecordEventDeps } from "./record-event.ts";

export interface RecordCallDeps extends RecordEventDeps {
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

/** The fields with the id of the object of a call. */
const INPUT_IDS = ["id", "agent_id", "app_id"];
/** The fields with the id of the object that a call has created, whose input has no id. */
const OUTPUT_IDS = ["id", "agent_id", "server_id", "app_id", "project_id"];

/** These errors change nothing and would fill the log. */
const UNRECORDED_ERRORS: readonly ErrorCode[] = ["invalid", "rate_limited"];

/**
 * Prepares the audit event of a call before the call runs: afterwards, what it deleted would have no name.
 *
 * @returns a function that records the call, if it succeeded or was refused. It does not record invalid input, rate limits
 *   and internal errors. A failure to find names or to record does not fail the call.
 */
export async function prepareCallRecord(
  deps: RecordCallDeps,
  call: AuditedCall,
): Promise<(outcome: CallOutcome) => Promise<void>> {
  const { orgId, credential } = call.caller;
  const skill = findSkill(call);
  const target = skill ?? findId(call.input, INPUT_IDS);
  const reportFailure = (failure: unknown) => deps.reportInternalError(failure, "cannot write the audit log");
  const names =
    target === null
      ? undefined
      : await findNames(deps.db, orgId, [target, credential.id]).catch((failure: unknown) => {
          reportFailure(failure);
          return NO_NAMES;
        });
  return async (outcome) => {
    const error = "error" in outcome ? outcome.error : null;
    if (error !== null && (!(error instanceof ServiceError) || UNRECORDED_ERRORS.includes(error.code))) return;
    const id = target ?? findId("output" in outcome ? outcome.output : null, OUTPUT_IDS);
    const event = { ...toEvent(call, id, error !== null), ...(skill !== null && { targetKind: "skill" as const }) };
    await recordEvent(deps, event, names).catch(reportFailure);
  };
}

function toEvent(
  { caller, action, address, input }: AuditedCall,
  target: string | null,
  isRefused: boolean,
): NewAuditEvent {
  return {
    action,
    address,
    target,
    variableName: action.startsWith("variables.") ? findVariableName(input) : null,
    outcome: isRefused ? "refused" : "done",
    orgId: caller.orgId,
    userId: caller.userId,
    credential: caller.credential,
  };
}

/** Runs a call outside of a router and records it. */
export async function runAudited<T>(deps: RecordCallDeps, call: AuditedCall, run: () => Promise<T>): Promise<T> {
  const record = await prepareCallRecord(deps, call);
  try {
    const output = await run();
    await record({ output });
    return output;
  } catch (error) {
    await record({ error });
    throw error;
  }
}

/** The name identifies a skill. The input is not validated yet, so a text that no skill can have as its name is not recorded. */
function findSkill({ action, input }: AuditedCall): string | null {
  if (!action.startsWith("skills.")) return null;
  const { name } = (input ?? {}) as { name?: unknown };
  return typeof name === "string" && isSkillName(name) ? name : null;
}

/** The input is not validated yet, so a text that no variable can have as its name is not recorded. */
function findVariableName(input: unknown): string | null {
  const { name } = (input ?? {}) as { name?: unknown };
  return typeof name === "string" && hasNameFormat(name) ? name : null;
}

/** Of other fields than ids and names of variables none is recorded: they may contain a secret. */
function findId(value: unknown, fields: readonly string[]): string | null {
  if (typeof value !== "object" || value === null) return null;
  const ids = value as Partial<Record<string, unknown>>;
  return fields.map((field) => ids[field]).find(isUuid) ?? null;
}
