import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { givenDelivery } from "../support/builds/push-deliveries.ts";
import { createInstallation, type ServiceProcess } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";
import { hazard, verifies } from "../support/verifies.ts";

const page = (text: string) => ({ "src/index.ts": `export default { fetch: () => new Response("${text}") };` });

/** When the service is killed after it has accepted a push: at once, or when the deployment has this status. */
const MOMENTS = ["accepted", "queued", "cloning", "building", "provisioning"] as const;

async function readDeployments({ rest }: ServiceProcess, id: string) {
  return (await rest.get(`/v1/apps/${id}/deployments`)).body["deployments"] as Record<string, unknown>[];
}

verifies(
  ["push.deploy", hazard(41), hazard(42)],
  "a service that is killed after it has accepted a push deploys it exactly once",
  async () => {
    await using folder = await temporaryFolder();
    await using installation = await createInstallation();
    const repository = await Repository.create(folder.path, "acme/site");
    await repository.commitFiles(page("first"));
    const plans = path.join(folder.path, "plans.json");
    await writeFile(plans, JSON.stringify({ test: { apps: 10, deploys: { limit: 100, window_seconds: 60 } } }));
    const env = { GIT_BASE_URL: pathToFileURL(folder.path).href, PLANS_FILE: plans, PLAN_DEFAULT: "test" };
    let service = await installation.start(env);
    const { body } = await service.rest.deploy({ repo: "acme/site" });
    const id = String(body["app_id"]);
    const isReady = async (number: number) => {
      const [newest] = await readDeployments(service, id);
      expect(newest).toMatchObject({ number, status: "ready" });
    };
    await waitFor(() => isReady(1));
    const json = { headers: { "content-type": "application/json" }, body: JSON.stringify({ enabled: true }) };
    const { body: push } = await service.rest.send("PUT", `/v1/apps/${id}/push-deploy`, json);
    const { pathname } = new URL(String(push["url"]));
    for (const [at, moment] of MOMENTS.entries()) {
      const commit = await repository.commitFiles(page(moment));
      const delivery = givenDelivery("github", String(push["secret"]), randomUUID(), { commit });
      const post = () => fetch(`${service.publicUrl}${pathname}`, { method: "POST", ...delivery });
      expect((await post()).status).toBe(202);
      await waitFor(async () => {
        const [newest] = await readDeployments(service, id);
        const hasBegun = newest!["number"] === at + 2 && reaches(newest!["status"], moment);
        expect([moment, moment === "accepted" || hasBegun]).toEqual([moment, true]);
      });
      await service.end("SIGKILL");
      service = await installation.start(env);
      // The host did not see the response, and repeats the delivery.
      expect((await post()).status).toBe(202);
      await waitFor(() => isReady(at + 2));
      const { body: app } = await service.rest.get(`/v1/apps/${id}`);
      expect((await appRequest(String(app["url"]))).text).toBe(moment);
    }
    const { body: list } = await service.rest.get(`/v1/apps/${id}/push-deliveries`);
    const deliveries = list["deliveries"] as Record<string, unknown>[];
    expect(deliveries.map(({ result, deployment }) => [result, (deployment as { number: number }).number])).toEqual(
      MOMENTS.map((_moment, at) => ["deployed", at + 2]).toReversed(),
    );
    expect(await readDeployments(service, id)).toHaveLength(MOMENTS.length + 1);
    await service.end("SIGTERM");
  },
);

/** The status, or a later one: a short one may have passed between two looks. */
function reaches(status: unknown, moment: string): boolean {
  const order = ["queued", "cloning", "building", "provisioning", "ready"];
  return order.indexOf(String(status)) >= order.indexOf(moment);
}
