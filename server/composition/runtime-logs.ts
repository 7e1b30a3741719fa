import type { RuntimeLogTail } from "../../domain/runtime-logs/runtime-log-tail.ts";
import { ReferenceCountedInstances } from "../../domain/shared/reference-counted-instances.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

export function createRuntimeLogs(
  { database, edge }: Foundation,
  opening: AsyncDisposableStack,
): Capabilities["runtimeLogs"] {
  const runtimeLogTails = opening.use(new ReferenceCountedInstances<RuntimeLogTail>());
  return { db: database.db, runtimeLogs: edge.runtimeLogs, runtimeLogTails };
}
