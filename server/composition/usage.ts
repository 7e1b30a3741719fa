import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

export function createRateLimits({ database, plans, shared }: Foundation): Capabilities["rateLimits"] {
  return { em: database.em, plans, counter: shared.counter, callCounter: shared.callCounter };
}

export function createUsage({ database, plans, shared, agentWorkspaces }: Foundation): Capabilities["usage"] {
  const { counter, callCounter } = shared;
  return { em: database.em, db: database.db, plans, counter, callCounter, agentWorkspaces };
}
