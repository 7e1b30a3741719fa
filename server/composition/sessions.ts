import type { HostAccess } from "../../domain/agents/host-access.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

export function createSessions({ database }: Foundation, hostAccess: HostAccess): Capabilities["sessions"] {
  return { ...hostAccess, em: database.em };
}
