import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { executeOnServer, postgresServer } from "../support/service/test-databases.ts";
import { createHarness } from "../support/service/harness.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

verifies(
  hazard(43),
  "a deployment becomes ready although all connections to the database are terminated repeatedly",
  async () => {
    await using folder = await temporaryFolder();
    await (
      await Repository.create(folder.path, "acme/slow")
    ).commitFiles({
      "package.json": JSON.stringify({ scripts: { build: "sleep 3" } }),
      "src/index.ts": `export default { fetch: () => new Response("alive") };`,
    });
    await using harness = await createHarness({
      worker: true,
      config: { gitBaseUrl: pathToFileURL(folder.path).href },
    });
    const tenant = await harness.tenant();
    const { body } = await tenant.rest.deploy({ repo: "acme/slow" });
    const id = String(body["app_id"]);
    await harness.waitForStatus(tenant, id, ["building"]);
    const database = new URL(harness.config.databaseUrl ?? "").pathname.slice(1);
    for (let cut = 0; cut < 5; cut++) {
      await executeOnServer(
        postgresServer(),
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`,
      );
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    expect((await harness.waitForStatus(tenant, id)).body).toMatchObject({ status: "ready", error: null });
    expect((await tenant.rest.get("/readyz")).status).toBe(200);
  },
);
