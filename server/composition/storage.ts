import type { EnforceDeps } from "../../domain/storage/enforce-storage.ts";
import type { Foundation } from "./foundation.ts";

/** The dependencies of the measurement of what apps store, which the worker runs. */
export function createStorage({ database, edge, plans, shared, log }: Foundation): EnforceDeps {
  return {
    em: database.em,
    db: database.db,
    plans,
    storage: edge.storage,
    changes: shared.changes,
    report: (err, { appId, slug }) => log.warn({ err, appId, slug }, "the storage of an app could not be checked"),
  };
}
