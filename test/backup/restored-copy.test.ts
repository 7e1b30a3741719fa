import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { writeInstallation } from "../../server/installation/installation.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { createTestDatabase } from "../support/service/test-databases.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

const REFUSED = "This installation was restored from a backup.";

/** The queue gets a sweep before a start of the worker ends. */
async function queuedSweeps({ service }: Harness): Promise<number> {
  return (await service.parts.orm.em.fork().execute(`select 1 from jobs.job where name = 'sweep'`)).length;
}

verifies(
  hazard(70),
  "a restored copy runs no jobs and refuses every change in each API, and does both after it has taken over",
  async () => {
    await using folder = await temporaryFolder();
    await using database = await createTestDatabase();
    const { databaseUrl, redisUrl } = database;
    const config = { dataDirectory: folder.path, databaseUrl, redisUrl };
    const installation = { id: randomUUID(), epoch: 1 };
    await writeInstallation(folder.path, { ...installation, state: "restored" });
    let token: string;
    {
      await using copy = await createHarness({ worker: true, config });
      expect(copy.service.isRestoredCopy).toBe(true);
      expect(await queuedSweeps(copy)).toBe(0);
      const tenant = await copy.tenant();
      token = tenant.api_key;
      const app = await copy.givenApp(tenant, {});
      const { publicUrl } = copy.service;
      expect((await tenant.rest.get(`/v1/apps/${app.id}`)).status).toBe(200);
      for (const { status, body } of [
        await tenant.rest.delete(`/v1/apps/${app.id}`),
        await tenant.rest.deploy({ repo: "acme/site" }),
      ])
        expect([status, body["error"]]).toEqual([503, expect.stringContaining(REFUSED)]);
      await expect(rpcClient(publicUrl, token).apps.delete.mutate({ id: app.id })).rejects.toThrow(REFUSED);
      const result = await new GatewayClient(publicUrl, tenant.personal_access_token).tool("service_delete_app", {
        app_id: app.id,
      });
      expect([result.isError, result.text]).toEqual([true, expect.stringContaining(REFUSED)]);
      const push = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
      expect((await fetch(`${publicUrl}/hooks/git/${randomUUID()}`, push)).status).toBe(503);
      expect((await tenant.rest.get("/v1/apps")).body["apps"]).toHaveLength(1);
    }
    await writeInstallation(folder.path, { ...installation, epoch: 2, state: "active" });
    await using active = await createHarness({ worker: true, config });
    expect(active.service.isRestoredCopy).toBe(false);
    await expect.poll(() => queuedSweeps(active)).toBe(1);
  },
);
