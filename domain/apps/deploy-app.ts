import { randomUUID } from "node:crypto";
import { type EntityManager, UniqueConstraintViolationException } from "@mikro-orm/core";
import { commitOfArchive } from "../archives/archive-limits.ts";
import { checkSource, chooseArchive, type GivenArchive } from "../archives/choose-archive.ts";
import { type UploadArchiveDeps, useArchive } from "../archives/upload-archive.ts";
import { type FindGitAccessDeps, resolveHost } from "../git-connections/find-git-access.ts";
import type { Plans } from "../plans/plans.ts";
import type { AppBuilder } from "../ports/app-builder-agent.ts";
import type { Runtime } from "../ports/bundler.ts";
import type { Caller } from "../shared/caller.ts";
import { checkDisplayName } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import { App } from "./app.entity.ts";
import { appToken } from "./app-token.ts";
import { type BuildEgress, checkBuildNetwork } from "./build-network-rules.ts";
import { checkCustomization } from "./customization-text-rules.ts";
import { findAppByKey, type RepeatableRequest, storeIdempotencyKey } from "./idempotency.ts";
import { checkAppQuota, lockOrganization } from "./app-quota.ts";
import { checkBranch, checkRepo } from "../repositories/repository-rules.ts";
import { normalizeRootDirectory } from "./root-directory-rules.ts";
import { slugFor } from "./slug.ts";

/** A deployment to record and queue. */
export interface NewDeployment {
  id: string;
  appId: string;
  orgId: string;
  /** The user who requests it; `null` when the credential belongs to no user. */
  createdBy: string | null;
  /** 1 for the first deployment of the app. */
  number: number;
  trigger: "deploy" | "redeploy" | "rollback" | "push" | "promotion";
  /** `null` for a deployment of an archive, which also has no branch. */
  repo: string | null;
  /** `null` for a deployment of a repository. */
  archiveId: string | null;
  /** The connected git host that has the repository; `null` for the service's own. */
  gitHost: string | null;
  branch: string | null;
  /** The commit of a rollback, a promotion or an archive. */
  commit?: string | null;
  /** The commit to deploy; without it, the newest one of the branch. */
  requestedCommit?: string | null;
  /** Whether the request named no branch. */
  branchIsDefault: boolean;
  customization: string | null;
  /** The folder to build, relative to the root of the repository; `null` to find it. */
  rootDirectory: string | null;
  buildNetwork: boolean;
  /** How the app has to run; `null` to detect it. */
  requestedRuntime: Runtime | null;
  /** For a rollback: the deployment whose bundle goes live again. */
  rollbackToId?: string;
  /** For a promotion: the deployment of another environment whose bundle goes live here. */
  promotedFromId?: string;
  /** For a promotion: the name of that environment. */
  promotedFrom?: string;
}

/** A variable to set, with a value that may be secret. */
export interface NewVariable {
  name: string;
  value: string;
  /** By default as before; `false` for a new variable. */
  secret?: boolean | undefined;
  /** By default as before; `false` for a new variable. */
  build?: boolean | undefined;
}

export type StoreVariables = (em: EntityManager, appId: string) => void;

export interface DeployDeps extends FindGitAccessDeps, UploadArchiveDeps {
  plans: Plans;
  /** Records a deployment and queues it in the transaction of `em`. */
  enqueueDeployment(em: EntityManager, deployment: NewDeployment): Promise<void>;
  /**
   * Checks the variables of a request. Returns a function that stores them for a new app, in the transaction of `em`.
   *
   * @throws {ServiceError} `invalid` for variables that no app can have
   */
  prepareVariables(variables: readonly NewVariable[]): StoreVariables;
  /** `null` when no app builder agent is configured. */
  appBuilder: AppBuilder | null;
  buildEgress: BuildEgress;
  tokenSecret: string;
  urlOf(slug: string): string;
}

/** It has exactly one of `repo`, `archive` and `files`. */
export interface DeployApp extends GivenArchive {
  repo?: string | undefined;
  /** Without it, the name of the repository, or "app". */
  name?: string | undefined;
  /** The git host, such as `gitlab.com`; without it, the one that has the repository. */
  host?: string | undefined;
  /** Without it: `main`, or the default branch of a repository that has no `main`. */
  branch?: string | undefined;
  customization?: string | undefined;
  /** The folder to build, relative to the root of the repository; without it, the build finds it. */
  root_directory?: string | undefined;
  /** Whether the build script may connect to public addresses; not by default. */
  build_network?: boolean | undefined;
  /** How the app has to run; without it, as the build detects. */
  runtime?: Runtime | undefined;
  /** The variables of the app. The first build and the first start have them already. */
  variables?: readonly NewVariable[] | undefined;
}

export interface DeployedApp {
  app_id: string;
  slug: string;
  app_token: string;
  url: string;
}

const DEFAULT_BRANCH = "main";
const DEFAULT_NAME = "app";

/** If a random slug is taken already, the next attempt uses another one. */
const ATTEMPTS = 3;

/**
 * Records a new app and queues its first deployment. Both commit together, so a crash never leaves one without the other.
 *
 * @param idempotencyKey - repeating a call with the same key returns the app of the first call
 * @param importKey - where the export is whose data the app gets
 * @throws {ServiceError} `invalid` for a repository, archive, branch, variable or other setting that is not allowed; `plan_limit`
 *   when the organization's plan has no room for another app; `key_reused` or `conflict` for the idempotency key
 */
export async function deployApp(
  deps: DeployDeps,
  caller: Caller,
  request: DeployApp,
  idempotencyKey: string | null,
  importKey: string | null = null,
): Promise<DeployedApp> {
  checkGivenSource(request);
  if (request.name !== undefined) checkDisplayName(request.name);
  if (request.branch !== undefined) checkBranch(request.branch);
  checkCustomization(request.customization, deps.appBuilder);
  checkBuildNetwork(request.build_network, deps.buildEgress);
  const rootDirectory = request.root_directory === undefined ? null : normalizeRootDirectory(request.root_directory);
  const storeVariables = deps.prepareVariables(request.variables ?? []);
  const { repo, host } = request;
  const gitHost = repo === undefined ? null : await resolveHost(deps, { orgId: caller.orgId, repo }, host);
  const archiveId = await chooseArchive(deps, caller, request);
  const { tokenSecret } = deps;
  // A URL names the host of the service too. Without it, the request is the same.
  const repeated = gitHost === null ? { ...request, host: undefined } : request;
  const repeatable =
    idempotencyKey === null ? null : { orgId: caller.orgId, key: idempotencyKey, request: repeated, tokenSecret };
  const call = { caller, request, gitHost, archiveId, rootDirectory, storeVariables, repeatable, importKey };
  return deployedApp(deps, await withFreeSlug(deps.em, (em) => recordApp(em, deps, call)));
}

/** Runs a transaction that inserts an app, again if the random slug of the app is taken. */
export async function withFreeSlug(root: EntityManager, record: (em: EntityManager) => Promise<App>): Promise<App> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(root, record);
    } catch (error) {
      if (!(error instanceof UniqueConstraintViolationException) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** @throws {ServiceError} `invalid` */
function checkGivenSource(request: DeployApp): void {
  const { repo, archive, files } = request;
  if (repo === undefined && archive === undefined && files === undefined)
    throw new ServiceError(
      "invalid",
      'repo: missing. Send exactly one of repo, archive and files. Example: {"repo": "acme/site"}.',
    );
  checkSource(request);
  if (repo !== undefined) checkRepo(repo);
}

interface DeployCall {
  caller: Caller;
  request: DeployApp;
  gitHost: string | null;
  /** `null` for a deployment of a repository. */
  archiveId: string | null;
  /** In the normalized form. */
  rootDirectory: string | null;
  storeVariables: StoreVariables;
  /** `null` for a request without an idempotency key. */
  repeatable: RepeatableRequest | null;
  importKey: string | null;
}

async function recordApp(
  em: EntityManager,
  deps: DeployDeps,
  { caller, request, gitHost, archiveId, rootDirectory, storeVariables, repeatable, importKey }: DeployCall,
): Promise<App> {
  const { orgId, userId: createdBy } = caller;
  const organization = await lockOrganization(em, orgId);
  // Under the lock: of parallel calls with one key, the second finds the app of the first instead of a full plan.
  const earlier = repeatable === null ? null : await findAppByKey(em, repeatable);
  if (earlier !== null) return earlier;
  await checkAppQuota(em, deps.plans, organization);
  if (archiveId !== null) await useArchive(em, { orgId, id: archiveId });
  const { repo = null, customization = null, build_network: buildNetwork = false } = request;
  const branch = repo === null ? null : (request.branch ?? DEFAULT_BRANCH);
  const requestedRuntime = request.runtime ?? null;
  const name = request.name ?? repo?.slice(repo.indexOf("/") + 1) ?? DEFAULT_NAME;
  const source = { orgId, createdBy, repo, archiveId, gitHost, branch, rootDirectory, buildNetwork, requestedRuntime };
  const branchIsDefault = repo !== null && request.branch === undefined;
  return insertApp(em, deps, { source, name, branchIsDefault, customization, storeVariables, repeatable, importKey });
}

export interface NewApp {
  /** What the app and its first deployment have in common. */
  source: Pick<
    NewDeployment,
    | "orgId"
    | "createdBy"
    | "repo"
    | "archiveId"
    | "gitHost"
    | "branch"
    | "rootDirectory"
    | "buildNetwork"
    | "requestedRuntime"
  >;
  name: string;
  /** For an environment: its name, and its production app. */
  environment?: { parentId: string; environment: string };
  branchIsDefault: boolean;
  customization: string | null;
  storeVariables: StoreVariables;
  /** `null` for a request without an idempotency key. */
  repeatable: RepeatableRequest | null;
  /** Where the export is whose data the app gets. */
  importKey?: string | null;
}

/** Inserts an app, and queues its first deployment. The organization must be locked, and its quota checked. */
export async function insertApp(
  em: EntityManager,
  deps: Pick<DeployDeps, "enqueueDeployment">,
  { source, name, environment, branchIsDefault, customization, storeVariables, repeatable, importKey = null }: NewApp,
): Promise<App> {
  const { archiveId } = source;
  const latestDeploymentId = randomUUID();
  const identity = { name, slug: slugFor(name), ...environment };
  const app = em.create(App, { ...source, ...identity, importKey, status: "queued", latestDeploymentId });
  if (repeatable !== null) storeIdempotencyKey(em, repeatable, app);
  await em.flush();
  storeVariables(em, app.id);
  await deps.enqueueDeployment(em, {
    ...source,
    commit: archiveId === null ? null : commitOfArchive(archiveId),
    branchIsDefault,
    customization,
    id: latestDeploymentId,
    appId: app.id,
    number: 1,
    trigger: "deploy",
  });
  return app;
}

function deployedApp(deps: DeployDeps, app: App): DeployedApp {
  return { app_id: app.id, slug: app.slug, app_token: appToken(deps.tokenSecret, app), url: deps.urlOf(app.slug) };
}
