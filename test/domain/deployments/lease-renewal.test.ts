import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { claimDeployment } from "../../../domain/deployments/claim-deployment.ts";
import { DeploymentCanceled, DeploymentLease, LeaseLost } from "../../../domain/deployments/lease.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { waitFor } from "../../support/time-limits.ts";

// No worker runs, so a test itself claims deployments.
const service = sharedHarness();
const root = () => service().service.parts.orm.em;
const em = () => root().fork();
const LONG_AGO = new Date(0);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});

afterEach(() => vi.useRealTimers());

async function givenClaimed() {
  const { id, latestDeploymentId } = await service().givenApp(await service().tenant(), { status: "queued" });
  const claimed = (await claimDeployment(root(), latestDeploymentId))!;
  const update = (fields: Partial<Deployment>) => em().nativeUpdate(Deployment, { id: latestDeploymentId }, fields);
  await update({ leaseRenewedAt: LONG_AGO });
  return {
    claimed,
    update,
    changeApp: (fields: Partial<App>) => em().nativeUpdate(App, { id }, fields),
    renewedAt: async () => (await em().findOneOrFail(Deployment, { id: latestDeploymentId })).leaseRenewedAt ?? null,
  };
}

/** The entity manager of the service, which calls `listener` before each renewal. */
function onFork(listener: () => void): ReturnType<typeof root> {
  const fork = () => {
    listener();
    return em();
  };
  return Object.assign(Object.create(root()) as ReturnType<typeof root>, { fork });
}

/** Waits until a lease has been renewed since `LONG_AGO`. */
const renewed = (renewedAt: () => Promise<Date | null>) =>
  waitFor(async () => expect((await renewedAt())!.getTime()).toBeGreaterThan(Date.now() - 60_000));

test("a worker renews its lease every second until the lease is disposed, which ends the lease", async () => {
  const [{ claimed, renewedAt, update }, other] = [await givenClaimed(), await givenClaimed()];
  const lease = new DeploymentLease(root(), claimed);
  for (let second = 1; second <= 2; second++) {
    await update({ leaseRenewedAt: LONG_AGO });
    vi.advanceTimersByTime(1000);
    await renewed(renewedAt);
    // A renewal has one more query.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect([await other.renewedAt(), lease.signal.aborted]).toEqual([LONG_AGO, false]);
  vi.advanceTimersByTime(1000);
  await lease[Symbol.asyncDispose]();
  expect([await renewedAt(), await other.renewedAt(), vi.getTimerCount()]).toEqual([null, LONG_AGO, 0]);
});

test("a renewal that takes long is not repeated before it ends", async () => {
  const { claimed, renewedAt } = await givenClaimed();
  let forks = 0;
  await using _ = new DeploymentLease(
    onFork(() => forks++),
    claimed,
  );
  vi.advanceTimersByTime(3000);
  await renewed(renewedAt);
  expect(forks).toBe(1);
});

test("a renewal that fails is repeated", async () => {
  const { claimed, renewedAt } = await givenClaimed();
  let forks = 0;
  const failFirst = () => {
    if (forks++ === 0) throw new Error("The database restarts.");
  };
  await using lease = new DeploymentLease(onFork(failFirst), claimed);
  vi.advanceTimersByTime(1000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  vi.advanceTimersByTime(1000);
  await renewed(renewedAt);
  expect([forks > 1, lease.signal.aborted]).toEqual([true, false]);
});

test("the lease of a deployment that has ended is not renewed", async () => {
  const [{ claimed, renewedAt, update }, other] = [await givenClaimed(), await givenClaimed()];
  await update({ status: "failed" });
  await using lease = new DeploymentLease(root(), claimed);
  await using _ = new DeploymentLease(root(), other.claimed);
  vi.advanceTimersByTime(1000);
  await renewed(other.renewedAt);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([await renewedAt(), lease.signal.aborted]).toEqual([LONG_AGO, false]);
});

test("a worker learns that its deployment was canceled, and the worker of another one does not", async () => {
  const [{ claimed, update, renewedAt }, other] = [await givenClaimed(), await givenClaimed()];
  await update({ cancelRequestedAt: new Date() });
  await using lease = new DeploymentLease(root(), claimed);
  await using otherLease = new DeploymentLease(root(), other.claimed);
  vi.advanceTimersByTime(1000);
  await waitFor(() => expect(lease.signal.reason).toBeInstanceOf(DeploymentCanceled));
  await renewed(renewedAt);
  await renewed(other.renewedAt);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(otherLease.signal.aborted).toBe(false);
});

test("a worker learns that its app has a newer lease, and does not renew its own", async () => {
  const { claimed, changeApp, renewedAt } = await givenClaimed();
  await changeApp({ fencingToken: claimed.fencingToken + 1 });
  await using lease = new DeploymentLease(root(), claimed);
  vi.advanceTimersByTime(1000);
  await waitFor(() => expect(lease.signal.reason).toBeInstanceOf(LeaseLost));
  expect(await renewedAt()).toEqual(LONG_AGO);
});
