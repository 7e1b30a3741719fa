import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { type AppVariables, UnreadableVariable } from "../ports/app-variables.ts";
import { type EdgePlatform, UnhealthyScript } from "../ports/edge-platform.ts";
import { sanitizeLog } from "../shared/sanitize-log.ts";

export interface ApplyDeps {
  em: EntityManager;
  edge: EdgePlatform;
  variables: AppVariables;
}

/**
 * Restarts a running app with its newest variables, and records the result. If the app does not start with them, it continues
 * to run with the earlier ones. Safe to repeat: an app that has the newest ones is not restarted.
 *
 * @throws any error of the edge platform; the queue then repeats the job
 */
export async function applyVariables(deps: ApplyDeps, appId: string, signal: AbortSignal): Promise<void> {
  const { em } = deps;
  const app = await em.fork().findOne(App, { id: appId });
  if (app === null || app.status === "deleting") return;
  const problem = await restart(deps, app, signal);
  const version = app.variablesVersion;
  await em
    .fork()
    .nativeUpdate(
      App,
      { id: appId, variablesTriedVersion: { $lte: version } },
      { variablesTriedVersion: version, variablesProblem: problem },
    );
}

/** Returns why the app did not start, or `null`. */
async function restart({ edge, variables }: ApplyDeps, { id, slug }: App, signal: AbortSignal): Promise<string | null> {
  try {
    await edge.restart(slug, signal);
    return null;
  } catch (error) {
    if (error instanceof UnreadableVariable) return error.message;
    if (!(error instanceof UnhealthyScript)) throw error;
    // The message quotes the app.
    return sanitizeLog(error.message, (await variables.read(id)).masks);
  }
}
