import type { EntityManager } from "@mikro-orm/core";
import type { App } from "../apps/app.entity.ts";
import { checkCustomization } from "../apps/customization-text-rules.ts";
import { requireApp } from "../apps/get-app.ts";
import { commitOfArchive } from "../archives/archive-limits.ts";
import { checkHasNoRepository, checkSource, chooseArchive, type GivenArchive } from "../archives/choose-archive.ts";
import { type UploadArchiveDeps, useArchive } from "../archives/upload-archive.ts";
import { checkBranch } from "../repositories/repository-rules.ts";
import type { AppBuilder } from "../ports/app-builder-agent.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { addDeployment, type AddDeploymentDeps, type DeploymentSource } from "./add-deployment.ts";
import type { DeploymentView } from "./deployment-view.ts";
import { Deployment } from "./deployment.entity.ts";

export interface RedeployDeps extends AddDeploymentDeps, UploadArchiveDeps {
  /** `null` when no app builder agent is configured. */
  appBuilder: AppBuilder | null;
}

export interface Redeploy extends GivenArchive {
  id: string;
  /** The app's own branch without it. */
  branch?: string | undefined;
  /** The newest commit of the branch without it. */
  commit?: string | undefined;
  /** That of the newest deployment without it; `null` for none. */
  customization?: string | null | undefined;
}

/**
 * Queues a deployment of the newest commit of an app, or of the given one. An app that is deployed from archives gets the given archive,
 * or again its last one. The live deployment serves until the new one is ready. The app keeps its branch.
 *
 * @param idempotencyKey - repeating a call with the same key returns the deployment of the first call
 * @throws {ServiceError} `invalid` for an archive, branch or customization that is not allowed, and those of `addDeployment`
 */
export async function redeployApp(
  deps: RedeployDeps,
  caller: Caller,
  { id: appId, ...request }: Redeploy,
  idempotencyKey: string | null,
): Promise<DeploymentView> {
  checkSource(request);
  if (request.branch !== undefined) checkBranch(request.branch);
  checkCustomization(request.customization ?? undefined, deps.appBuilder);
  // Before texts are stored for nothing.
  if (request.files !== undefined) await requireApp(deps.db, { orgId: caller.orgId, id: appId });
  const archiveId = await chooseArchive(deps, caller, request);
  return addDeployment(deps, { caller, appId, request, idempotencyKey }, (em, app) =>
    redeploymentOf(em, app, { trigger: "redeploy", request, archiveId }),
  );
}

interface WantedRedeployment {
  trigger: "redeploy" | "push";
  request: Omit<Redeploy, "id">;
  /** A new archive of the app; `null` without one. */
  archiveId: string | null;
}

/** What a further deployment of an app deploys. */
export async function redeploymentOf(
  em: EntityManager,
  app: App,
  { trigger, request, archiveId }: WantedRedeployment,
): Promise<DeploymentSource> {
  const newest = await em.findOneOrFail(Deployment, { id: app.latestDeploymentId });
  const source = app.repo ? await repositorySource(em, app, request) : await archiveSource(em, app, request, archiveId);
  return {
    ...source,
    trigger,
    customization: request.customization === undefined ? (newest.customization ?? null) : request.customization,
    rootDirectory: app.rootDirectory ?? null,
    buildNetwork: app.buildNetwork,
    requestedRuntime: app.requestedRuntime ?? null,
  };
}

type Source = Pick<
  DeploymentSource,
  "repo" | "archiveId" | "gitHost" | "branch" | "branchIsDefault" | "commit" | "requestedCommit"
>;

async function repositorySource(em: EntityManager, app: App, request: Omit<Redeploy, "id">): Promise<Source> {
  const given = (["archive", "files"] as const).find((field) => request[field] !== undefined);
  if (given !== undefined)
    throw new ServiceError(
      "invalid",
      `${given}: this app is deployed from the repository ${app.repo}. Push a commit, or deploy a new app.`,
    );
  const first = await em.findOneOrFail(Deployment, { appId: app.id, number: 1 });
  return {
    repo: app.repo ?? null,
    archiveId: null,
    gitHost: app.gitHost ?? null,
    branch: request.branch ?? app.branch ?? null,
    branchIsDefault: request.branch === undefined && first.branchIsDefault,
    requestedCommit: request.commit ?? null,
  };
}

/** A new archive becomes that of the app. */
async function archiveSource(
  em: EntityManager,
  app: App,
  request: Omit<Redeploy, "id">,
  given: string | null,
): Promise<Source> {
  checkHasNoRepository(request);
  const archiveId = given ?? app.archiveId ?? null;
  if (archiveId === null) throw new Error("the app has neither a repository nor an archive");
  await useArchive(em, { orgId: app.orgId, id: archiveId });
  em.assign(app, { archiveId });
  const commit = commitOfArchive(archiveId);
  return { repo: null, archiveId, gitHost: null, branch: null, branchIsDefault: false, commit };
}
