import { requireApp } from "../apps/get-app.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { decodeNumberCursor, encodeNumberCursor } from "../shared/keyset-cursor.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { type DeploymentDetail, type DeploymentView, selectDeployments, toDeploymentView } from "./deployment-view.ts";
import { toStepTimes } from "./step-times.ts";

export interface ReadDeploymentsDeps {
  db: Db;
}

export interface DeploymentPageRequest {
  id: string;
  /** The maximum number of deployments; 20 without it. */
  limit?: number | undefined;
  /** The `next_cursor` of an earlier page; without it, the first page is returned. */
  cursor?: string | undefined;
}

export interface DeploymentPage {
  deployments: DeploymentView[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/** The characters of a page without its deployments. */
const ENVELOPE_CHARACTERS = 100;

/**
 * Lists the deployments of an app, newest first.
 *
 * @param isForAgent - whether the page must have at most the size of a response for an agent
 * @throws {ServiceError} `not_found` when the organization has no such app; `invalid` for a cursor that this service did
 *   not return
 */
export async function listDeployments(
  { db }: ReadDeploymentsDeps,
  { orgId }: Caller,
  { id: appId, limit = 20, cursor }: DeploymentPageRequest,
  isForAgent = false,
): Promise<DeploymentPage> {
  let query = selectDeployments(db, { orgId, appId })
    .orderBy("deployments.number", "desc")
    .limit(limit + 1);
  if (cursor !== undefined) query = query.where("deployments.number", "<", decodeNumberCursor(cursor, 9));
  const rows = await query.execute();
  if (rows.length === 0) await requireApp(db, { orgId, id: appId });
  const views = rows.slice(0, limit).map(toDeploymentView);
  const deployments = isForAgent ? takeWithinBudget(views, RESPONSE_CHARACTERS - ENVELOPE_CHARACTERS) : views;
  const last = deployments.at(-1);
  return {
    deployments,
    next_cursor: rows.length > deployments.length && last !== undefined ? encodeNumberCursor(last.number) : null,
  };
}

/** @throws {ServiceError} `not_found` when the organization has no such app, or the app has no such deployment */
export async function getDeployment(
  { db }: ReadDeploymentsDeps,
  { orgId }: Caller,
  { id: appId, number }: { id: string; number: number },
): Promise<DeploymentDetail> {
  const row = await selectDeployments(db, { orgId, appId })
    .select("deployments.steps")
    .where("deployments.number", "=", number)
    .executeTakeFirst();
  if (row === undefined) throw deploymentNotFound();
  const { steps, ...summary } = row;
  const view = toDeploymentView(summary);
  return { ...view, steps: toStepTimes(steps, view.finished_at) };
}

/** The same error for a deployment that never existed and for any of another organization. */
export function deploymentNotFound(): ServiceError {
  return new ServiceError(
    "not_found",
    "Deployment not found. GET /v1/apps/{id}/deployments and service_list_deployments list those of an app.",
  );
}
