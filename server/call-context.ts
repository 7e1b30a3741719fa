import type { Caller } from "../domain/shared/caller.ts";
import type { CallDetails, Context, Service } from "../routers/core/context.ts";
import { callToolForProgram, TOOLS } from "../routers/tool-registry.ts";

const NO_DETAILS: CallDetails = {
  acceptsRepositoryUrls: false,
  acceptsDownloads: false,
  address: null,
  authenticationError: null,
  idempotencyKey: null,
  isForAgent: false,
  unreadableBody: null,
  reportRateLimit: () => undefined,
};

/** Creates the context of one call. */
export function callContext(service: Service, caller: Caller | null, details: Partial<CallDetails> = {}): Context {
  const context: Context = {
    service,
    ...NO_DETAILS,
    ...details,
    caller,
    ownToolCount: TOOLS.size,
    callTool: (name, input, signal) => callToolForProgram(context, name, input, signal),
  };
  return context;
}
