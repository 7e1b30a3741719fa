import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { HttpResponse, RestClient } from "../support/clients/rest-client.ts";
import { createInstallation, type Installation, type ServiceProcess } from "../support/service/service-process.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** `npm run test:crash` kills more often. */
const KILLS = Number(process.env["TEST_KILLS"] ?? 2);
const LONGEST_DELAY_MS = 1500;

/** What the service has acknowledged, so it must never be lost. */
interface Acknowledged {
  appIds: string[];
  tokens: string[];
}

/** Issues tokens and deploys apps, one request after the other, until `signal` is aborted. */
async function generateLoad({ rest }: ServiceProcess, acknowledged: Acknowledged, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    // The rate limit allows few deploys. A rejected one is not acknowledged.
    const isDeploy = n % 10 === 0;
    const request = isDeploy
      ? rest.deploy({ repo: "examples/hello" })
      : rest.post("/v1/tokens", { kind: "api_key", name: `token ${n}` });
    const response = await request.catch(() => null);
    if (response?.status !== 201) await delay(10);
    else if (isDeploy) acknowledged.appIds.push(String(response.body["app_id"]));
    else acknowledged.tokens.push(String(response.body["token"]));
  }
}

async function killPostgres({ dataDirectory }: Installation): Promise<void> {
  const lockFile = await readFile(path.join(dataDirectory, "database/data/postmaster.pid"), "utf8");
  process.kill(Number(lockFile.split("\n", 1)[0]), "SIGKILL");
}

/** Waits until the database is available again: the processes of a killed PostgreSQL serve their connections for a moment. */
async function getWhenAvailable(rest: RestClient, url: string): Promise<HttpResponse> {
  let response: HttpResponse | undefined;
  await expect.poll(async () => (response = await rest.get(url)).status).not.toBe(503);
  return response as HttpResponse;
}

async function expectNothingLost({ rest }: ServiceProcess, { appIds, tokens }: Acknowledged): Promise<void> {
  expect((await getWhenAvailable(rest, "/readyz")).status).toBe(200);
  const { apps } = (await getWhenAvailable(rest, "/v1/apps")).body as { apps: { id: string }[] };
  expect(apps.map(({ id }) => id)).toEqual(expect.arrayContaining(appIds));
  for (const token of tokens) expect((await getWhenAvailable(rest.as(token), "/v1/apps")).status).toBe(200);
}

verifies(
  [hazard(41), hazard(43)],
  `after each of ${KILLS} kills of the service or PostgreSQL at a random moment, every acknowledged app and token exists`,
  async () => {
    await using installation = await createInstallation();
    // Builds are not part of this test, and would make each turn slower.
    const start = () => installation.start({ BUILD_CONCURRENCY: "1", LOG_LEVEL: "silent" });
    const acknowledged: Acknowledged = { appIds: [], tokens: [] };
    let service = await start();
    for (let turn = 0; turn < KILLS; turn++) {
      const stopLoad = new AbortController();
      const load = generateLoad(service, acknowledged, stopLoad.signal);
      // A kill before the first acknowledged request would test nothing.
      await expect.poll(() => acknowledged.tokens.length).toBeGreaterThan(0);
      await delay(Math.random() * LONGEST_DELAY_MS);
      if (turn % 2 === 0) await killPostgres(installation);
      else await service.end("SIGKILL");
      stopLoad.abort();
      await load;
      if (turn % 2 === 1) service = await start();
      await expectNothingLost(service, acknowledged);
    }
    expect(acknowledged.tokens.length).toBeGreaterThan(0);
    process.stdout.write(
      `${KILLS} kills; ${acknowledged.appIds.length} apps and ${acknowledged.tokens.length} tokens acknowledged, none lost\n`,
    );
    await service.end("SIGTERM");
  },
);
