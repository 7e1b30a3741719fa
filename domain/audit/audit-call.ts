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
  action: string;
  address: string | null;
  input: unknown;
}

/** How a call ended: with an output, or with what was thrown. */
export type Ending = { output: unknown } | { refusal: unknown };

/** Mistakes and waits change nothing, and would only fill the log. */
const NOT_WORTH_NOTING: readonly ErrorCode[] = ["invalid", "rate_limited"];

/** Writes down a call that changes something, or that was to. That it cannot be written never fails the call. */
export async function recordCall(
  deps: RecordCallDeps,
  { caller, action, address, input }: AuditedCall,
  ending: Ending,
): Promise<void> {
  const refused = "refusal" in ending;
  if (refused && (!(ending.refusal instanceof ServiceError) || NOT_WORTH_NOTING.includes(ending.refusal.code))) return;
  try {
    await recordEvent(deps.em, {
      ...{ action, address, outcome: refused ? "refused" : "done" },
      ...{ orgId: caller.orgId, userId: caller.userId, credential: caller.credential },
      target: idIn(input) ?? ("output" in ending ? idIn(ending.output) : null),
    });
  } catch (error) {
    deps.reportInternalError(error, "the audit log cannot be written");
  }
}

/** Nothing but an id: what else a call holds may be a secret. */
function idIn(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  const { id, app_id: appId } = value as { id?: unknown; app_id?: unknown };
  return [id, appId].find(isUuid) ?? null;
}
