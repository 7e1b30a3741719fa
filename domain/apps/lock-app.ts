import { type EntityManager, LockMode } from "@mikro-orm/core";
import { ServiceError } from "../shared/errors.ts";
import { App } from "./app.entity.ts";
import { appNotFound } from "./get-app.ts";

/**
 * Locks an app until the transaction of `em` ends.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app
 */
export async function lockApp(em: EntityManager, where: { id: string; orgId: string }): Promise<App> {
  const app = await em.findOne(App, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (app === null) throw appNotFound();
  return app;
}

/**
 * Locks an app that is to be changed or deployed.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app; `conflict` while it is being deleted
 */
export async function lockExistingApp(em: EntityManager, where: { id: string; orgId: string }): Promise<App> {
  const app = await lockApp(em, where);
  if (app.status === "deleting") throw appIsBeingDeleted();
  return app;
}

export function appIsBeingDeleted(): ServiceError {
  return new ServiceError("conflict", "The app is being deleted.");
}
