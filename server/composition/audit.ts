import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

export function createAudit({ database, log }: Foundation): Capabilities["audit"] {
  return {
    em: database.em,
    db: database.db,
    reportInternalError: (err, what) => log.error({ err }, what),
  };
}
