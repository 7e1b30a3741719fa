import type { EntityManager } from "@mikro-orm/core";
import { checkHasNoRepository } from "../archives/choose-archive.ts";
import type { Runtime } from "../ports/bundler.ts";
import type { Caller } from "../shared/caller.ts";
import { checkDisplayName } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import type { AppDetail } from "./app-view.ts";
import { type BuildEgress, checkBuildNetwork } from "./build-network-rules.ts";
import { getApp, type GetAppDeps } from "./get-app.ts";
import { lockExistingApp } from "./lock-app.ts";
import { checkBranch } from "../repositories/repository-rules.ts";
import { normalizeRootDirectory } from "./root-directory-rules.ts";

export interface UpdateAppDeps extends GetAppDeps {
  em: EntityManager;
  buildEgress: BuildEgress;
  /** Makes the search find the procedures of an app by its new name, in the transaction of `em`. */
  renameInIndex(em: EntityManager, appId: string, name: string): Promise<void>;
}

export interface UpdateApp {
  id: string;
  name?: string | undefined;
  /** What a deployment without a branch deploys. The live deployment stays. */
  branch?: string | undefined;
  /** What the next deployment builds; `null` to find it. */
  root_directory?: string | null | undefined;
  /** Whether the build script of the next deployment may connect to public addresses. */
  build_network?: boolean | undefined;
  /** How the next deployment has to run; `null` to detect it. */
  runtime?: Runtime | null | undefined;
}

/**
 * Changes the name or the settings of an app. Its slug, URL and token stay.
 *
 * @throws {ServiceError} `invalid` for a name or setting that is not allowed, or a branch without a repository; `not_found` when the organization has no such
 *   app; `conflict` while it is being deleted
 */
export async function updateApp(
  deps: UpdateAppDeps,
  caller: Caller,
  { id, ...changes }: UpdateApp,
): Promise<AppDetail> {
  if (changes.name !== undefined) checkDisplayName(changes.name);
  if (changes.branch !== undefined) checkBranch(changes.branch);
  checkBuildNetwork(changes.build_network, deps.buildEgress);
  const { root_directory: requested } = changes;
  const rootDirectory = typeof requested === "string" ? normalizeRootDirectory(requested) : requested;
  if (Object.values(changes).every((value) => value === undefined))
    throw new ServiceError(
      "invalid",
      "Nothing to change. Send one or more of: name, branch, root_directory, build_network, runtime.",
    );
  await inTransaction(deps.em, async (em) => {
    const app = await lockExistingApp(em, { id, orgId: caller.orgId });
    if (!app.repo) checkHasNoRepository(changes);
    const { name = app.name, branch = app.branch, build_network: buildNetwork = app.buildNetwork } = changes;
    if (name !== app.name) await deps.renameInIndex(em, id, name);
    em.assign(app, { name, branch, buildNetwork });
    if (rootDirectory !== undefined) app.rootDirectory = rootDirectory;
    if (changes.runtime !== undefined) app.requestedRuntime = changes.runtime;
    await em.flush();
  });
  return getApp(deps, caller, id);
}
