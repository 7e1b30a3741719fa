import type { EntityManager } from "@mikro-orm/core";
import type { AuthEntries, AuthEntry } from "../ports/auth-entries.ts";
import { sha256Hex } from "../tokens/mint-token.ts";
import { App } from "./app.entity.ts";
import { IN_PROGRESS } from "./app-status.ts";
import { appToken } from "./app-token.ts";

export interface AuthEntryDeps {
  em: EntityManager;
  authEntries: AuthEntries;
  tokenSecret: string;
}

/**
 * Makes an app's auth entry what the app's record says. Safe to repeat and to run many times at once: whoever writes
 * looks at the record again afterwards, so an older token never stays in the entry. An app that is being deleted, has
 * failed or is gone is given none.
 *
 * @returns the record that the entry was made from, or `null` when the app has none
 */
export async function syncAuthEntry(deps: AuthEntryDeps, appId: string): Promise<App | null> {
  for (let written: number | null = null; ;) {
    const app = await deps.em.fork().findOne(App, { id: appId });
    if (app === null || !([...IN_PROGRESS, "ready"] as readonly string[]).includes(app.status)) {
      // Its teardown may have looked for the entry before it was written here.
      if (written !== null) await deps.authEntries.remove(appId);
      return null;
    }
    if (app.tokenVersion === written) return app;
    await deps.authEntries.put(entryOf(deps.tokenSecret, app));
    written = app.tokenVersion;
  }
}

/**
 * Writes the auth entry of every ready app whose entry does not know the app's token, as after a crash between the two.
 *
 * @returns how many were written
 */
export async function syncStaleAuthEntries(deps: AuthEntryDeps): Promise<number> {
  const ready = await deps.em.fork().find(App, { status: "ready" }, { fields: ["id", "tokenVersion"] });
  let renewed = 0;
  for (const app of ready) {
    // An entry that cannot be read is as good as none.
    const entry = await deps.authEntries.get(app.id).catch(() => null);
    if (entry?.tokenSha256 === tokenHash(deps.tokenSecret, app)) continue;
    await syncAuthEntry(deps, app.id);
    renewed += 1;
  }
  return renewed;
}

function entryOf(secret: string, app: App): AuthEntry {
  const entry = { appId: app.id, tokenSha256: tokenHash(secret, app) };
  if (!app.previousTokenUntil) return entry;
  const tokenSha256 = tokenHash(secret, { id: app.id, tokenVersion: app.tokenVersion - 1 });
  return { ...entry, previous: { tokenSha256, until: app.previousTokenUntil.toISOString() } };
}

function tokenHash(secret: string, app: { id: string; tokenVersion: number }): string {
  return sha256Hex(appToken(secret, app));
}
