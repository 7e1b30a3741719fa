import type { EntityManager } from "@mikro-orm/core";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { AppDetail } from "./app-view.ts";
import { getApp, type GetAppDeps } from "./get-app.ts";
import { lockExistingApp } from "./lock-app.ts";
import { checkBranch } from "./repository-rules.ts";

export interface UpdateAppDeps extends GetAppDeps {
  em: EntityManager;
}

export interface UpdateApp {
  id: string;
  name?: string | undefined;
  /** What a deployment without a branch deploys. The live deployment stays. */
  branch?: string | undefined;
}

const MAX_NAME_LENGTH = 100;

/**
 * Changes the name or the branch of an app. Its slug, URL and token stay.
 *
 * @throws {ServiceError} `invalid` for a name or branch that is not allowed; `not_found` when the organization has no such
 *   app; `conflict` while it is being deleted
 */
export async function updateApp(
  deps: UpdateAppDeps,
  caller: Caller,
  { id, ...changes }: UpdateApp,
): Promise<AppDetail> {
  if (changes.name !== undefined) checkName(changes.name);
  if (changes.branch !== undefined) checkBranch(changes.branch);
  if (Object.values(changes).every((value) => value === undefined))
    throw new ServiceError("invalid", "Nothing to change. Send name, branch or both.");
  await deps.em.fork().transactional(async (em) => {
    const app = await lockExistingApp(em, { id, orgId: caller.orgId });
    const { name = app.name, branch = app.branch } = changes;
    em.assign(app, { name, branch });
    await em.flush();
  });
  return getApp(deps, caller, id);
}

function checkName(name: string): void {
  // A name is one line that looks like what it is: no control, format or line separator characters.
  const isPlain = name.isWellFormed() && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name);
  if (isPlain && name.trim() === name && name.length >= 1 && name.length <= MAX_NAME_LENGTH) return;
  throw new ServiceError(
    "invalid",
    `name: must be one line of 1 to ${MAX_NAME_LENGTH} characters without spaces at its ends. Example: "Shop".`,
  );
}
