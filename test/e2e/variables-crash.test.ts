import { pathToFileURL } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createInstallation, type ServiceProcess } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

const APP = { "src/index.ts": `export default { fetch: (_, env) => new Response(env.COUNT ?? "none") };` };
/** `npm run test:crash` kills more often. */
const KILLS = Number(process.env["TEST_KILLS"] ?? 1);

function setCount({ rest }: ServiceProcess, id: string, count: number) {
  const headers = { "content-type": "application/json" };
  return rest.send("PUT", `/v1/apps/${id}/variables/COUNT`, {
    body: JSON.stringify({ value: String(count) }),
    headers,
  });
}

/** Sets 1, 2, 3, ... until the service ends. Returns the last number that the service has acknowledged. */
async function countUntilKilled(service: ServiceProcess, id: string, from: number): Promise<number> {
  for (let count = from; ; count++) {
    const response = await setCount(service, id, count).catch(() => null);
    if (response?.status !== 200) return count - 1;
  }
}

verifies(
  hazard(41),
  "after a kill of the service while variables change, the app has the last acknowledged value or the next one",
  async () => {
    await using folder = await temporaryFolder();
    await using installation = await createInstallation();
    await (await Repository.create(folder.path, "acme/count")).commitFiles(APP);
    const start = () => installation.start({ GIT_BASE_URL: pathToFileURL(folder.path).href, LOG_LEVEL: "silent" });
    let service = await start();
    const id = String((await service.rest.deploy({ repo: "acme/count" })).body["app_id"]);
    const detail = async () => (await service.rest.get(`/v1/apps/${id}`)).body;
    await expect.poll(async () => (await detail())["status"]).toBe("ready");
    let acknowledged = 0;
    for (let turn = 0; turn < KILLS; turn++) {
      await appRequest(String((await detail())["url"]));
      const counting = countUntilKilled(service, id, acknowledged + 1);
      await delay(300 + Math.random() * 1000);
      await service.end("SIGKILL");
      acknowledged = await counting;
      service = await start();
      const shown = Number((await appRequest(String((await detail())["url"]))).text);
      expect([acknowledged, acknowledged + 1]).toContain(shown);
      const list = async () => (await service.rest.get(`/v1/apps/${id}/variables`)).body;
      await expect.poll(list).toMatchObject({
        variables: [{ name: "COUNT", value: String(shown) }],
        is_applied: true,
      });
      acknowledged = shown;
    }
    expect(acknowledged).toBeGreaterThan(0);
  },
);
