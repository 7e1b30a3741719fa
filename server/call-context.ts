import type { Caller } from "../domain/shared/caller.ts";
import type { CallDetails, Capabilities, Context } from "../routers/core/context.ts";
import { callToolForProgram } from "../routers/tool-registry.ts";

const NO_DETAILS: CallDetails = {
  address: null,
  authenticationError: null,
  idempotencyKey: null,
  isForAgent: false,
  unreadableBody: null,
  reportRateLimit: () => undefined,
};

/** Creates the context of one call. */
export function callContext(
  capabilities: Capabilities,
  caller: Caller | null,
  details: Partial<CallDetails> = {},
): Context {
  const context: Context = {
    ...capabilities,
    ...NO_DETAILS,
    ...details,
    caller,
    callTool: (name, input, signal) => callToolForProgram(context, name, input, signal),
  };
  return context;
}
