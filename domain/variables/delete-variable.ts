import type { Caller } from "../shared/caller.ts";
import { AppVariable } from "./app-variable.entity.ts";
import type { ApplyStatus } from "./apply-status.ts";
import { type ChangeDeps, changeVariables } from "./change-variables.ts";
import { variableNotFound } from "./variable-view.ts";

export interface DeleteVariable {
  /** The app's id. */
  id: string;
  name: string;
}

export type DeletedVariable = { status: "deleted" } & ApplyStatus;

/**
 * Deletes a variable of an app. A running app restarts without it.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app, or the app has no such variable; `conflict`
 *   while the app is being deleted
 */
export async function deleteVariable(
  deps: ChangeDeps,
  { orgId }: Caller,
  { id, name }: DeleteVariable,
): Promise<DeletedVariable> {
  const state = await changeVariables(deps, { id, orgId }, async (em) => {
    if ((await em.nativeDelete(AppVariable, { appId: id, name })) === 0) throw variableNotFound();
    return true;
  });
  return { status: "deleted", ...state };
}
