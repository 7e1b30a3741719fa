import { ProcedureIndex } from "../../domain/procedures/procedure-index.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { EdgeProxyCaller } from "../drivers/app-caller/edge-proxy-caller.ts";
import type { Foundation } from "./foundation.ts";

export function createProcedures({ database, edge, tokenSecret }: Foundation): Capabilities["procedures"] {
  return {
    db: database.db,
    tokenSecret,
    procedureIndex: new ProcedureIndex(database.db),
    appCaller: new EdgeProxyCaller((slug) => ({
      ...edge.proxyAddress,
      hostHeader: new URL(edge.urlOf(slug)).host,
    })),
  };
}
