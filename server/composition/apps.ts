import { AppListVersions } from "../../domain/apps/app-list-versions.ts";
import { enqueueDeployment } from "../../domain/deployments/enqueue-deployment.ts";
import { hideProcedures, renameInIndex } from "../../domain/procedures/replace-procedures.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

/** How long a DELETE waits for the teardown, in milliseconds. */
const TEARDOWN_WAIT_MS = 10_000;

export function createApps({
  config,
  database,
  edge,
  external,
  plans,
  queue,
  shared,
  tokenSecret,
}: Foundation): Capabilities["apps"] {
  return {
    em: database.em,
    db: database.db,
    plans,
    jobs: queue.jobs,
    changes: shared.changes,
    authEntries: edge.authEntries,
    urlOf: edge.urlOf,
    appBuilder: external.appBuilder,
    buildEgress: config.buildEgress,
    tokenSecret,
    appListVersions: new AppListVersions(database.db),
    teardownWaitMs: TEARDOWN_WAIT_MS,
    hideProcedures,
    renameInIndex,
    enqueueDeployment: (em, deployment) => enqueueDeployment(em, queue.jobs, deployment),
  };
}
