import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

export function createOAuthConnections({ database, shared }: Foundation): Capabilities["oauthConnections"] {
  return { db: database.db, em: database.em, accessChanges: shared.accessChanges };
}
