import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { appIdOf, LOG_BUCKET } from "../apps/app-resources.ts";
import { type AuthEntryDeps, syncStaleAuthEntries } from "../apps/sync-auth-entry.ts";
import { IdempotencyKey } from "../apps/idempotency-key.entity.ts";
import { KEY_LIFE_HOURS } from "../apps/idempotency.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { RateLimitWindow } from "../rate-limits/rate-limit-window.entity.ts";
import { Build } from "./deployment.entity.ts";
import { LEASE_MS } from "./claim-deployment.ts";
import type { AppPlatform } from "./release-resources.ts";

export interface SweepDeps extends AppPlatform, AuthEntryDeps {
  jobs: JobQueue;
}

/** What a sweep found and took away or set going again. */
export interface SweepReport {
  orphans: string[];
  teardowns: number;
  builds: number;
  authEntries: number;
}

/** Work that nobody has touched for this long, and that does not wait for its turn, is queued again; in milliseconds. */
const STALLED_MS = 60_000;

/**
 * Puts right whatever a crash could have left: orphaned resources, forgotten teardowns, builds
 * without a worker, auth entries that do not know the app's token.
 */
export async function sweep(deps: SweepDeps): Promise<SweepReport> {
  const teardowns = await requeueTeardowns(deps);
  const builds = await requeueBuilds(deps);
  await forgetExpired(deps.em);
  const authEntries = await syncStaleAuthEntries(deps);
  // Last, since a provider that is down must not keep anybody's app waiting.
  const orphans = await removeOrphans(deps);
  return { orphans, teardowns, builds, authEntries };
}

/** A resource as the platform knows it, and how to remove it. */
interface Found {
  appId: string;
  what: string;
  remove(): Promise<void>;
}

async function removeOrphans(deps: SweepDeps): Promise<string[]> {
  // Listed before the records are read: a record is always older than its resources, so one that is missing
  // afterwards is gone for good and not still to come.
  const found = await findResources(deps);
  const living = await livingApps(deps.em, new Set(found.map((resource) => resource.appId)));
  const orphans = found.filter((resource) => !living.has(resource.appId));
  const failures: unknown[] = [];
  for (const orphan of orphans) await orphan.remove().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} orphans could not be removed`);
  return orphans.map((orphan) => orphan.what);
}

async function findResources({ edge, databases, authEntries, objects }: SweepDeps): Promise<Found[]> {
  const scripts = (await edge.list()).map(({ appId, slug }) => ({
    appId,
    what: `script ${slug}`,
    remove: () => edge.unpublish(slug),
  }));
  const entries = (await authEntries.list()).map((appId) => ({
    appId,
    what: `auth entry ${appId}`,
    remove: () => authEntries.remove(appId),
  }));
  const sql = ofApps(await databases.list(), "SQL database", (id) => databases.remove(id));
  const buckets = ofApps(await objects.listBuckets(), "bucket", (name) => objects.removeBucket(name));
  const logs = (await objects.list(LOG_BUCKET)).map(({ key }) => ({
    appId: key.replace(/\.log$/, ""),
    what: `log ${key}`,
    remove: () => objects.remove(LOG_BUCKET, key),
  }));
  return [...scripts, ...entries, ...sql, ...buckets, ...logs];
}

function ofApps(ids: string[], kind: string, remove: (id: string) => Promise<void>): Found[] {
  return ids.flatMap((id) => {
    const appId = appIdOf(id);
    return appId === null ? [] : [{ appId, what: `${kind} ${id}`, remove: () => remove(id) }];
  });
}

/** A failed app keeps its log; everything else of it was released when it failed. */
async function livingApps(em: EntityManager, ids: ReadonlySet<string>): Promise<Set<string>> {
  const apps = await em.fork().find(App, { id: { $in: [...ids] } }, { fields: ["id"] });
  return new Set(apps.map((app) => app.id));
}

async function requeueTeardowns({ em, jobs }: SweepDeps): Promise<number> {
  const stalled = { status: "deleting" as const, updatedAt: { $lt: new Date(Date.now() - STALLED_MS) } };
  const apps = await em.fork().find(App, stalled, { fields: ["id"] });
  const waiting = new Set((await jobs.waiting("teardown")).map((job) => job.appId));
  const forgotten = apps.filter((app) => !waiting.has(app.id));
  for (const app of forgotten) await em.fork().transactional((tx) => jobs.enqueue(tx, "teardown", { appId: app.id }));
  return forgotten.length;
}

async function requeueBuilds({ em, jobs }: SweepDeps): Promise<number> {
  const silent = new Date(Date.now() - Math.max(STALLED_MS, LEASE_MS));
  const builds = await em.fork().find(Build, {
    outcome: null,
    createdAt: { $lt: silent },
    $or: [{ heldAt: null }, { heldAt: { $lt: silent } }],
  });
  const waiting = new Set((await jobs.waiting("build")).map((job) => job.buildId));
  const forgotten = builds.filter((build) => !waiting.has(build.id));
  for (const build of forgotten)
    await em.fork().transactional((tx) => jobs.enqueue(tx, "build", { buildId: build.id }));
  return forgotten.length;
}

async function forgetExpired(em: EntityManager): Promise<void> {
  const keysFrom = new Date(Date.now() - KEY_LIFE_HOURS * 3_600_000);
  await em.fork().nativeDelete(IdempotencyKey, { createdAt: { $lt: keysFrom } });
  await em.fork().nativeDelete(RateLimitWindow, { expiresAt: { $lt: new Date() } });
}
