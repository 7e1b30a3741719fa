import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

export function createMemories({ database }: Foundation): Capabilities["memories"] {
  return { em: database.em, db: database.db };
}
