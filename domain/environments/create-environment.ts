import type { EntityManager } from "@mikro-orm/core";
import { checkAppQuota, lockOrganization } from "../apps/app-quota.ts";
import { App } from "../apps/app.entity.ts";
import { type DeployDeps, insertApp, type NewVariable, withFreeSlug } from "../apps/deploy-app.ts";
import { findAppByKey, type RepeatableRequest } from "../apps/idempotency.ts";
import { lockExistingApp } from "../apps/lock-app.ts";
import { checkHasNoRepository } from "../archives/choose-archive.ts";
import { useArchive } from "../archives/upload-archive.ts";
import { Deployment } from "../deployments/deployment.entity.ts";
import { copyChanges } from "../deployments/stored-customizations.ts";
import { checkBranch } from "../repositories/repository-rules.ts";
import type { Caller } from "../shared/caller.ts";
import { MAX_DISPLAY_NAME_LENGTH } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { AppVariable } from "../variables/app-variable.entity.ts";
import type { VariableCipher } from "../variables/variable-cipher.ts";
import { checkEnvironmentName } from "./environment-rules.ts";
import { type EnvironmentView, getEnvironment, type ListEnvironmentsDeps } from "./list-environments.ts";

export interface CreateEnvironmentDeps extends DeployDeps, ListEnvironmentsDeps {
  variableCipher: VariableCipher;
}

export interface CreateEnvironment {
  /** The id of the production app. */
  id: string;
  name: string;
  /** The branch of the production app without it. */
  branch?: string | undefined;
  /** Whether the environment gets a copy of the production app's variables, with the secret ones; `true` without it. */
  copy_variables?: boolean | undefined;
  /** Variables of the environment. They replace copied ones of the same name. */
  variables?: readonly NewVariable[] | undefined;
}

/**
 * Creates an environment of an app, and queues its first deployment. It is an app with the source and the settings of its
 * production app, but with its own branch, variables, URL, token and database. Both commit together.
 *
 * @param idempotencyKey - repeating a call with the same key returns the environment of the first call
 * @throws {ServiceError} `invalid` for a name, branch or variable that is not allowed; `not_found` when the organization has no
 *   such app; `plan_limit` when its plan has no room for another app; `conflict` when the app is an environment itself, is being
 *   deleted, or has an environment with this name, when a variable cannot be copied, or for the idempotency key; `key_reused`
 */
export async function createEnvironment(
  deps: CreateEnvironmentDeps,
  caller: Caller,
  request: CreateEnvironment,
  idempotencyKey: string | null,
): Promise<EnvironmentView> {
  checkEnvironmentName(request.name);
  if (request.branch !== undefined) checkBranch(request.branch);
  // Before the app is read, so that the response is the same for any app.
  deps.prepareVariables(request.variables ?? []);
  const { orgId } = caller;
  const repeatable =
    idempotencyKey === null ? null : { orgId, key: idempotencyKey, request, tokenSecret: deps.tokenSecret };
  const { id } = await withFreeSlug(deps.em, (em) => recordEnvironment(em, deps, { caller, request, repeatable }));
  return getEnvironment(deps, caller, id);
}

interface CreateCall {
  caller: Caller;
  request: CreateEnvironment;
  /** `null` for a request without an idempotency key. */
  repeatable: RepeatableRequest | null;
}

async function recordEnvironment(
  em: EntityManager,
  deps: CreateEnvironmentDeps,
  { caller: { orgId, userId: createdBy }, request, repeatable }: CreateCall,
): Promise<App> {
  const organization = await lockOrganization(em, orgId);
  const earlier = repeatable === null ? null : await findAppByKey(em, repeatable);
  if (earlier !== null) return earlier;
  const parent = await lockExistingApp(em, { id: request.id, orgId });
  await checkIsNew(em, parent, request.name);
  if (!parent.repo) checkHasNoRepository({ branch: request.branch });
  await checkAppQuota(em, deps.plans, organization);
  const { repo = null, archiveId = null, gitHost = null, rootDirectory = null, requestedRuntime = null } = parent;
  if (archiveId !== null) await useArchive(em, { orgId, id: archiveId });
  const model = await em.findOneOrFail(Deployment, { id: parent.liveDeploymentId ?? parent.latestDeploymentId });
  const first = await em.findOneOrFail(Deployment, { appId: parent.id, number: 1 });
  const branch = request.branch ?? parent.branch ?? null;
  const settings = { rootDirectory, buildNetwork: parent.buildNetwork, requestedRuntime };
  const app = await insertApp(em, deps, {
    source: { orgId, createdBy, repo, archiveId, gitHost, branch, ...settings },
    name: nameOf(parent, request.name),
    environment: { parentId: parent.id, environment: request.name },
    branchIsDefault: request.branch === undefined && first.branchIsDefault,
    customization: model.customization ?? null,
    storeVariables: deps.prepareVariables(await chooseVariables(em, deps, request)),
    repeatable,
  });
  // The app builder agent has made the changes already.
  if (model.customization)
    await copyChanges(em, { fromId: model.id, deploymentId: app.latestDeploymentId, appId: app.id });
  return app;
}

/** @throws {ServiceError} `conflict` */
async function checkIsNew(em: EntityManager, parent: App, name: string): Promise<void> {
  if (parent.environment)
    throw new ServiceError(
      "conflict",
      `The app is the environment ${parent.environment} itself. Create the new one for its production app ${parent.parentId}.`,
    );
  const existing = await em.findOne(App, { parentId: parent.id, environment: name });
  if (existing === null) return;
  const state = existing.status === "deleting" ? "it is being deleted" : `its app is ${existing.slug}`;
  throw new ServiceError("conflict", `The app has an environment ${name} already: ${state}.`);
}

/** A name for people, which is in the slug too. */
function nameOf(parent: App, name: string): string {
  const suffix = ` (${name})`;
  const characters = Array.from(parent.name);
  while (characters.join("").length > MAX_DISPLAY_NAME_LENGTH - suffix.length) characters.pop();
  return `${characters.join("").trimEnd()}${suffix}`;
}

/** A given variable that replaces a copied one keeps its flags unless it has its own. */
async function chooseVariables(
  em: EntityManager,
  { variableCipher: cipher }: CreateEnvironmentDeps,
  { id: appId, copy_variables: copies = true, variables: given = [] }: CreateEnvironment,
): Promise<NewVariable[]> {
  const stored = copies ? await em.find(AppVariable, { appId }, { orderBy: { name: "asc" } }) : [];
  const names = new Set(given.map(({ name }) => name));
  const copied = stored
    .filter(({ name }) => !names.has(name))
    .map((variable) => {
      const value = cipher.open(variable.sealedValue, variable);
      if (value === null) throw notReadable(variable.name);
      return { name: variable.name, value, secret: variable.isSecret, build: variable.isForBuild };
    });
  const replaced = given.map(({ name, value, secret, build }) => {
    const earlier = stored.find((variable) => variable.name === name);
    return { name, value, secret: secret ?? earlier?.isSecret, build: build ?? earlier?.isForBuild };
  });
  return [...copied, ...replaced];
}

function notReadable(name: string): ServiceError {
  return new ServiceError(
    "conflict",
    `The variable ${name} of the app cannot be decrypted, so it cannot be copied. Set its value again, give the environment its own, or send copy_variables: false.`,
  );
}
