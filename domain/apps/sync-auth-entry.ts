import type { EntityManager } from "@mikro-orm/core";
import type { AuthEntries, AuthEntry } from "../ports/auth-entries.ts";
import { sha256Hex } from "../shared/sha256.ts";
import { App } from "./app.entity.ts";
import { isInProgress } from "./app-status.ts";
import { appToken } from "./app-token.ts";

export interface AuthEntryDeps {
  em: EntityManager;
  authEntries: AuthEntries;
  tokenSecret: string;
}

/**
 * Makes an app's auth entry match the app's record. Safe to repeat and to run concurrently: every writer reads the
 * record again after its write, so an older token never stays in the entry. An app that is gone, that is being deleted,
 * or that has failed and was never live gets no entry.
 *
 * @returns the record that the entry was written from, or `null` when the app gets no entry
 */
export async function syncAuthEntry(deps: AuthEntryDeps, appId: string): Promise<App | null> {
  for (let writtenVersion: number | null = null; ;) {
    const app = await deps.em.fork().findOne(App, { id: appId });
    if (app === null || !needsEntry(app)) {
      // The teardown may have looked for the entry before it was written here.
      if (writtenVersion !== null) await deps.authEntries.remove(appId);
      return null;
    }
    if (app.tokenVersion === writtenVersion) return app;
    await deps.authEntries.put(authEntry(deps.tokenSecret, app));
    writtenVersion = app.tokenVersion;
  }
}

function needsEntry({ status, liveDeploymentId }: App): boolean {
  return status !== "deleting" && (liveDeploymentId !== null || isInProgress(status));
}

/**
 * Writes the auth entry of every live app whose entry does not contain the hash of the app's token. A crash between the
 * update of the record and of the entry leaves such an entry.
 *
 * @returns the number of written entries
 */
export async function syncStaleAuthEntries(deps: AuthEntryDeps): Promise<number> {
  const live = { liveDeploymentId: { $ne: null }, status: { $ne: "deleting" as const } };
  const apps = await deps.em.fork().find(App, live, { fields: ["id", "tokenVersion"] });
  let written = 0;
  for (const app of apps) {
    // An entry that cannot be read is replaced like a missing one.
    const entry = await deps.authEntries.get(app.id).catch(() => null);
    if (entry?.tokenSha256 === tokenHash(deps.tokenSecret, app)) continue;
    await syncAuthEntry(deps, app.id);
    written += 1;
  }
  return written;
}

function authEntry(secret: string, app: App): AuthEntry {
  const entry = { appId: app.id, tokenSha256: tokenHash(secret, app) };
  if (!app.previousTokenUntil) return entry;
  const tokenSha256 = tokenHash(secret, { id: app.id, tokenVersion: app.tokenVersion - 1 });
  return { ...entry, previous: { tokenSha256, until: app.previousTokenUntil.toISOString() } };
}

function tokenHash(secret: string, app: { id: string; tokenVersion: number }): string {
  return sha256Hex(appToken(secret, app));
}
