import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { DEFAULT_LIMITS, Plans } from "../../../domain/plans/plans.ts";
import type { AppStorage, StorageRestriction, StoredApp, StoredBytes } from "../../../domain/ports/app-storage.ts";
import { enforceStorage, judgeStorage } from "../../../domain/storage/enforce-storage.ts";
import { readStorage } from "../../../domain/usage/get-usage.ts";
import { failing } from "../../support/edge/platform-resources.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

// Each call handles all apps of the database.
beforeEach(() => em().execute("delete from app_storage"));

const [SMALL, LARGE] = [1000, 5000];
const PLANS = new Plans(
  {
    small: { ...DEFAULT_LIMITS, apps: 10, storageBytes: SMALL },
    large: { ...DEFAULT_LIMITS, apps: 10, storageBytes: LARGE },
  },
  "small",
);

/** Enforces the bounds of stored apps, and records what is reported and announced. */
function createEnforcement(storage: AppStorage = new RecordedStorage()) {
  const { db, storageDeps } = service().service.parts;
  const reported: [message: string, app: StoredApp][] = [];
  const announced: string[] = [];
  const changes = { ...storageDeps.changes, announce: (orgId: string) => void announced.push(orgId) };
  const report = (error: unknown, app: StoredApp) => void reported.push([(error as Error).message, app]);
  const deps = { em: em(), db, plans: PLANS, storage, changes, report };
  const enforce = (signal = new AbortController().signal) => enforceStorage(deps, signal);
  return { enforce, reported, announced };
}

async function givenApp(plan: string, status: "ready" | "deleting" = "ready") {
  const tenant = await service().tenant({ plan });
  const app = await service().givenApp(tenant, { status });
  const problem = async () => (await em().findOneOrFail(App, { id: app.id })).storageProblem;
  return { orgId: tenant.org_id, stored: { appId: app.id, slug: app.slug }, problem };
}

test("the measured bytes of an app are recorded by kind, and replaced by the next measurement", async () => {
  const { orgId, stored } = await givenApp("large");
  const storage = new RecordedStorage();
  const { enforce, announced } = createEnforcement(storage);
  for (const bytes of [
    { sql: 1, keyValue: 20, objects: 300, durable: 4000 },
    { sql: 2, keyValue: 3, objects: 4, durable: 5 },
  ]) {
    storage.store({ ...stored, ...bytes });
    await enforce();
    const { sql, keyValue, objects, durable } = bytes;
    const total = sql + keyValue + objects + durable;
    const app = { slug: stored.slug, total_bytes: total, bytes: { sql, key_value: keyValue, objects, durable } };
    expect(await readStorage(service().service.parts.db, orgId, LARGE)).toEqual({
      limit_bytes_per_app: LARGE,
      total_bytes: total,
      apps: [{ ...app, stopped: false }],
    });
  }
  // Beyond this size, the result of a measurement no longer matters.
  expect(storage.stopAtBytes.get(stored.appId)).toBe(2 * LARGE + 1);
  expect(announced).toEqual([]);
});

test("an app beyond the bound of its plan is restricted and has a problem, until it is within the bound again", async () => {
  const [{ orgId, stored, problem }, other] = [await givenApp("small"), await givenApp("small")];
  const storage = new RecordedStorage();
  const { enforce, announced } = createEnforcement(storage);
  storage.store({ ...stored, sql: SMALL });
  await enforce();
  expect([storage.restrictions.size, await problem(), announced]).toEqual([0, null, []]);
  storage.store({ ...stored, sql: SMALL + 1 });
  await enforce();
  await enforce();
  expect(storage.restrictions.get(stored.appId)).toMatchObject({ servesOwner: true });
  expect([await problem(), announced]).toEqual([expect.stringContaining('"small"'), [orgId]]);
  expect(await other.problem()).toBeNull();
  storage.store({ ...stored, sql: 2 * SMALL + 1 });
  await enforce();
  expect(storage.restrictions.get(stored.appId)).toMatchObject({ servesOwner: false });
  storage.store({ ...stored, sql: SMALL });
  await enforce();
  expect([storage.restrictions.get(stored.appId), await problem()]).toEqual([null, null]);
  expect(announced).toEqual([orgId, orgId, orgId]);
});

test("an app beyond the smallest bound, but within that of its own plan, serves", async () => {
  const { stored, problem } = await givenApp("large");
  const storage = new RecordedStorage();
  storage.store({ ...stored, objects: LARGE });
  await createEnforcement(storage).enforce();
  expect([storage.restrictions.get(stored.appId), await problem()]).toEqual([null, null]);
});

test("an app that is gone or is being deleted is neither recorded nor restricted", async () => {
  const { orgId, stored, problem } = await givenApp("small", "deleting");
  const storage = new RecordedStorage();
  storage.store({ ...stored, sql: 9 * SMALL });
  storage.store({ appId: randomUUID(), slug: "gone", sql: 9 * SMALL });
  const { enforce, reported } = createEnforcement(storage);
  await enforce();
  expect((await readStorage(service().service.parts.db, orgId, SMALL)).apps).toEqual([]);
  expect([await problem(), reported, [...storage.stopAtBytes.keys()]]).toEqual([null, [], [stored.appId]]);
  // Its deletion may end while it is measured, or begin afterwards.
  const gone = await givenApp("small");
  storage.store({ ...gone.stored, sql: 9 * SMALL });
  const measure = storage.measure.bind(storage);
  storage.measure = async (app, stopAtBytes) => {
    await em().nativeDelete(App, { id: app.appId });
    return measure(app, stopAtBytes);
  };
  await enforce();
  expect(reported).toEqual([]);
  storage.measure = measure;
  const deleted = await givenApp("small");
  storage.store({ ...deleted.stored, sql: 9 * SMALL });
  await createEnforcement(storage).enforce();
  await em().nativeUpdate(App, { id: deleted.stored.appId }, { status: "deleting" });
  storage.restrictions.clear();
  await createEnforcement(storage).enforce();
  expect(storage.restrictions.has(deleted.stored.appId)).toBe(false);
});

test("an app that cannot be measured or restricted is reported, and the others are still handled", async () => {
  const [first, second] = [await givenApp("small"), await givenApp("small")];
  for (const operation of ["measure", "restrict"] as const) {
    const storage = new RecordedStorage();
    for (const { stored } of [first, second]) storage.store({ ...stored, sql: SMALL + 1 });
    const { enforce, reported } = createEnforcement(failing(storage, operation, 1));
    await enforce();
    expect(reported).toEqual([[expect.stringContaining(operation), expect.toBeOneOf([first.stored, second.stored])]]);
    const [[, failed]] = reported as [[string, StoredApp]];
    const other = failed.appId === first.stored.appId ? second : first;
    expect(storage.restrictions.get(other.stored.appId)).toMatchObject({ servesOwner: true });
  }
});

test("an aborted call measures and restricts no further app", async () => {
  const { stored, problem } = await givenApp("small");
  const storage = new RecordedStorage();
  storage.store({ ...stored, sql: SMALL + 1 });
  await createEnforcement(storage).enforce(AbortSignal.abort());
  expect(storage.stopAtBytes.size).toBe(0);
  storage.store({ ...stored, sql: SMALL + 1 });
  const controller = new AbortController();
  storage.measure = async () => {
    controller.abort();
    return { sql: SMALL + 1, keyValue: 0, objects: 0, durable: 0 };
  };
  await createEnforcement(storage).enforce(controller.signal);
  expect([storage.restrictions.size, await problem()]).toEqual([0, null]);
});

const MEBIBYTE = 1024 * 1024;
const BOUND = 1500 * MEBIBYTE;
const judge = (totalBytes: number, storageBytes = BOUND) => judgeStorage(totalBytes, { storageBytes }, "team");

test("an app is within its bound up to and including the bound", () => {
  for (const bytes of [0, BOUND - 1, BOUND]) expect(judge(bytes)).toEqual({ restriction: null, problem: null });
});

test("an app beyond its bound serves its owner only, and beyond twice its bound no requests", () => {
  for (const [bytes, servesOwner] of [
    [BOUND + 1, true],
    [2 * BOUND, true],
    [2 * BOUND + 1, false],
  ] as const) {
    const { restriction, problem } = judge(bytes);
    expect([bytes, restriction?.servesOwner, typeof problem]).toEqual([bytes, servesOwner, "string"]);
  }
});

test("the problem names the plan and its bound in MiB, and not what the app stores; clients see neither", () => {
  for (const bytes of [BOUND + 1, 2 * BOUND + 1]) {
    const { restriction, problem } = judge(bytes);
    expect(problem).toContain('1,500 MiB that the plan "team" allows');
    expect(judge(bytes + 1).problem).toBe(problem);
    expect(restriction?.message).toMatch(/^This app is stopped/);
    expect(restriction?.message).not.toMatch(/team|1,500/);
  }
  expect(judge(BOUND, 2 * MEBIBYTE - 1).problem).toContain("1 MiB");
});

const NOTHING: StoredBytes = { sql: 0, keyValue: 0, objects: 0, durable: 0 };

/** Apps that store what a test says, and the restrictions that were set. */
class RecordedStorage implements AppStorage {
  readonly stored = new Map<string, StoredBytes>();
  readonly restrictions = new Map<string, StorageRestriction | null>();
  /** The bounds that measurements were given, by the id of the app. */
  readonly stopAtBytes = new Map<string, number>();
  changed: StoredApp[] = [];

  /** Says what an app stores, and that it has changed. */
  store(app: StoredApp & Partial<StoredBytes>): void {
    const { appId, slug, ...bytes } = app;
    this.stored.set(appId, { ...NOTHING, ...bytes });
    this.changed.push({ appId, slug });
  }

  async listChanged(): Promise<StoredApp[]> {
    return this.changed.splice(0);
  }

  async measure({ appId }: StoredApp, stopAtBytes: number): Promise<StoredBytes> {
    this.stopAtBytes.set(appId, stopAtBytes);
    return this.stored.get(appId) ?? NOTHING;
  }

  async restrict({ appId }: StoredApp, restriction: StorageRestriction | null): Promise<void> {
    this.restrictions.set(appId, restriction);
  }
}
