import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { claimDeployment } from "../../domain/deployments/claim-deployment.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import { openJobQueue } from "../../server/composition/database.ts";
import { QUEUE_NAMES } from "../../server/drivers/job-queue/pg-boss-queue.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

// No worker runs, so only the test starts jobs.
const service = sharedHarness();

test.each([
  ["with the embedded database releases the jobs and leases of the earlier process", true],
  ["with a database that other processes may use leaves their jobs and leases", false],
] as const)("a start %s", async (_name, isEmbedded) => {
  const { boss, orm } = service().service.parts;
  const { latestDeploymentId: id } = await service().givenApp(await service().tenant(), { status: "queued" });
  await claimDeployment(orm.em, id);
  const active = await Promise.all(
    QUEUE_NAMES.map(async (queue) => {
      const jobId = await boss.send(queue, { deploymentId: randomUUID() });
      const [job] = await boss.fetch(queue);
      expect(job?.id).toBe(jobId);
      return { queue, jobId: String(jobId) };
    }),
  );
  const readStates = () =>
    Promise.all(
      active.map(async ({ queue, jobId }) => (await boss.findJobs(queue, { id: jobId })).map(({ state }) => state)),
    );
  const isLeased = async () => (await orm.em.fork().findOneOrFail(Deployment, { id })).leaseRenewedAt !== null;
  expect([await readStates(), await isLeased()]).toEqual([QUEUE_NAMES.map(() => ["active"]), true]);

  await using opening = new AsyncDisposableStack();
  const url = service().config.databaseUrl ?? "";
  await openJobQueue({ orm, url, isEmbedded }, createLogger("silent"), opening);

  // A job in the state `retry` waits for a worker. An active one waits until the heartbeat of its worker expires.
  // A poll is not tried again: the next one comes anyway.
  const released = (name: string) => (name === "push-poll" ? "failed" : "retry");
  const expected = QUEUE_NAMES.map((name) => [isEmbedded ? released(name) : "active"]);
  expect([await readStates(), await isLeased()]).toEqual([expected, !isEmbedded]);
  for (const { queue, jobId } of active) await boss.deleteJob(queue, jobId);
});
