import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

export function createTokens({ database, shared }: Foundation): Capabilities["tokens"] {
  return { em: database.em, db: database.db, accessChanges: shared.accessChanges };
}
