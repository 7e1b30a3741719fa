import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

export function createAgentWorkspaces({ database, agentWorkspaces }: Foundation): Capabilities["agentWorkspaces"] {
  return { db: database.db, agentWorkspaces };
}
