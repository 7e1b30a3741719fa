import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

export function createAgents({ database, shared, external }: Foundation): Capabilities["agents"] {
  const { em, db } = database;
  return { em, db, accessChanges: shared.accessChanges, gatewayUrl: () => `${external.publicUrl()}/mcp` };
}
