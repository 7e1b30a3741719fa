import type { Db } from "../database-types.ts";
import type { Runtime } from "../ports/bundler.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import type { DeploymentStatus } from "./deployment-status.ts";
import type { DeploymentTrigger } from "./deployment.entity.ts";
import type { StepTime } from "./step-times.ts";

/** A deployment, the same in every API. Timestamps are RFC 3339 in UTC with milliseconds. */
export interface DeploymentView {
  id: string;
  app_id: string;
  /** 1 for the first deployment of the app. */
  number: number;
  status: DeploymentStatus;
  status_message: string | null;
  error: string | null;
  trigger: DeploymentTrigger;
  /** `null` for a deployment of an archive. */
  repo: string | null;
  /** The connected git host that has the repository; `null` for the service's own. */
  host: string | null;
  /** `null` for a deployment of an archive. */
  branch: string | null;
  /** The id of the archive; `null` for a deployment of a repository. */
  archive: string | null;
  /** `null` until the branch is cloned, unless the request names it. For an archive, the first 40 digits of its id. */
  commit: string | null;
  customization: string | null;
  /** The folder that is built; `null` for the root of the repository, or until the build has found it. */
  root_directory: string | null;
  /** Whether the build script may connect to public addresses. */
  build_network: boolean;
  /** How the built version runs; `null` until it is built. */
  runtime: Runtime | null;
  /** For a rollback: the number of the deployment that goes live again. */
  rollback_to: number | null;
  /** For a promotion: the environment whose bundle goes live. */
  promoted_from: string | null;
  /** Whether it serves the requests of the app. */
  is_live: boolean;
  /** Whether its bundle is kept, so that a rollback to it is possible. */
  can_roll_back: boolean;
  created_by: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

/** One deployment with all its fields. */
export interface DeploymentDetail extends DeploymentView {
  /** The steps of its newest attempt so far, in their order. If it failed, the last one failed. */
  steps: StepTime[];
}

/** Selects the deployments of one app as `toDeploymentView` needs them. No other organization's app has any. */
export function selectDeployments(db: Db, { orgId, appId }: { orgId: string; appId: string }) {
  return db
    .selectFrom("deployments")
    .innerJoin("apps", "apps.id", "deployments.app_id")
    .leftJoin("deployments as target", "target.id", "deployments.rollback_to_id")
    .where("deployments.app_id", "=", appId)
    .where("apps.org_id", "=", orgId)
    .select([
      "deployments.id",
      "deployments.app_id",
      "deployments.number",
      "deployments.status",
      "deployments.status_message",
      "deployments.error",
      "deployments.trigger",
      "deployments.repo",
      "deployments.git_host as host",
      "deployments.branch",
      "deployments.archive_id as archive",
      "deployments.commit",
      "deployments.requested_commit",
      "deployments.customization",
      "deployments.root_directory",
      "deployments.build_network",
      "deployments.runtime",
      "deployments.promoted_from",
      "deployments.artifact_key",
      "deployments.created_by",
      "deployments.created_at",
      "deployments.started_at",
      "deployments.finished_at",
      "apps.live_deployment_id",
      "target.number as rollback_to",
    ]);
}

type DeploymentRow = Awaited<ReturnType<ReturnType<typeof selectDeployments>["execute"]>>[number];

export function toDeploymentView({
  artifact_key,
  live_deployment_id,
  requested_commit,
  ...row
}: DeploymentRow): DeploymentView {
  return {
    ...row,
    commit: row.commit ?? requested_commit,
    is_live: row.id === live_deployment_id,
    can_roll_back: row.status === "superseded" && artifact_key !== null,
    created_at: toIsoTimestamp(row.created_at),
    started_at: row.started_at === null ? null : toIsoTimestamp(row.started_at),
    finished_at: row.finished_at === null ? null : toIsoTimestamp(row.finished_at),
  };
}
