import type { Db } from "../database-types.ts";
import type { DeploymentStatus } from "../deployments/deployment-status.ts";
import { requireApp } from "../apps/get-app.ts";
import type { PushResult, PushSource } from "../push-records/push-delivery.entity.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";

/** A delivery as its organization sees it. */
export interface PushDeliveryView {
  id: string;
  source: PushSource;
  event: string;
  ref: string | null;
  commit: string | null;
  message: string | null;
  result: PushResult;
  reason: string | null;
  deployment: { id: string; number: number; status: DeploymentStatus } | null;
  status_problem: string | null;
  created_at: string;
}

/**
 * Lists what git hosts have reported for an app, newest first.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app
 */
export async function listPushDeliveries(
  { db }: { db: Db },
  { orgId }: Caller,
  { id: appId, limit }: { id: string; limit: number },
): Promise<{ deliveries: PushDeliveryView[] }> {
  await requireApp(db, { orgId, id: appId });
  const rows = await db
    .selectFrom("push_deliveries as delivery")
    .leftJoin("deployments", "deployments.id", "delivery.deployment_id")
    .where("delivery.app_id", "=", appId)
    .where("delivery.org_id", "=", orgId)
    .select([
      "delivery.id",
      "delivery.source",
      "delivery.event",
      "delivery.ref",
      "delivery.commit",
      "delivery.message",
      "delivery.result",
      "delivery.reason",
      "delivery.status_problem",
      "delivery.created_at",
      "deployments.id as deployment_id",
      "deployments.number",
      "deployments.status",
    ])
    .orderBy("delivery.created_at", "desc")
    .orderBy("delivery.id", "desc")
    .limit(limit)
    .execute();
  return {
    deliveries: rows.map(({ deployment_id: id, number, status, ...row }) => ({
      ...row,
      deployment: id === null || number === null || status === null ? null : { id, number, status },
      created_at: toIsoTimestamp(row.created_at),
    })),
  };
}
