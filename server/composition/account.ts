import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

export function createAccount({ database }: Foundation): Capabilities["account"] {
  return { db: database.db };
}
