import { randomUUID } from "node:crypto";
import { readFile, rename } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import { LastKnownVariables } from "../../domain/variables/last-known-variables.ts";
import { processTree } from "../../server/sandbox/process-tree.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { rpcErrorOf, rpcClient } from "../support/clients/rpc-client.ts";
import { createHarness } from "../support/service/harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const ADVICE = expect.stringContaining("database is temporarily unavailable. Try again in a few seconds.");

/** Kills the embedded PostgreSQL and hides its data, so that it cannot restart. Returns a function that restores the data. */
async function stopPostgres(dataDirectory: string): Promise<() => Promise<void>> {
  const data = path.join(dataDirectory, "database/data");
  const hidden = `${data}.hidden`;
  const [pid] = (await readFile(path.join(data, "postmaster.pid"), "utf8")).split("\n", 1);
  await rename(data, hidden);
  // Without new ones meanwhile. Those that serve a connection may answer for some time after their parent has ended.
  process.kill(Number(pid), "SIGSTOP");
  for (const each of processTree(Number(pid))) process.kill(each, "SIGKILL");
  return () => rename(hidden, data);
}

verifies(
  hazard(43),
  "while the embedded PostgreSQL is down, every API responds with 503 and advice, and committed data is kept",
  async () => {
    await using harness = await createHarness({ config: { databaseUrl: null } });
    const { publicUrl } = harness.service;
    const { rest, api_key: apiKey, personal_access_token: personalToken } = await harness.tenant();
    const gateway = new GatewayClient(publicUrl, personalToken);
    expect((await gateway.tool("service_list_apps")).isError).toBe(false);
    const issued = await rest.post("/v1/tokens", { kind: "api_key", name: "before" });
    expect(issued.status).toBe(201);

    const { db, deploymentDeps } = harness.service.parts;
    const other = await harness.tenant();
    const { id: appId } = await harness.givenApp(other);
    const variables = new LastKnownVariables(deploymentDeps.variables);
    await db.updateTable("apps").set({ variables_version: 7 }).where("id", "=", appId).execute();
    const known = await variables.read(appId);
    expect(known.version).toBe(7);

    const startPostgres = await stopPostgres(harness.dataDirectory);
    await expect.poll(async () => (await rest.get("/readyz")).status).toBe(503);
    const list = await rest.get("/v1/apps");
    expect([list.status, list.body, list.headers.get("retry-after")]).toEqual([503, { error: ADVICE }, "1"]);
    const deploy = await rest.deploy({ repo: "acme/site" });
    expect([deploy.status, deploy.body]).toEqual([503, { error: ADVICE }]);
    // These tokens are not cached, so their verification queries the database.
    const unknown = await rest.as(String(issued.body["token"])).get("/v1/apps");
    expect([unknown.status, unknown.body]).toEqual([503, { error: ADVICE }]);
    const listed = await gateway.as(other.personal_access_token).call("tools/list");
    expect([listed.status, listed.body.error?.message, listed.headers.get("retry-after")]).toEqual([503, ADVICE, "1"]);
    const rpcError = await rpcErrorOf(rpcClient(publicUrl, apiKey).apps.list.query());
    expect(rpcError).toEqual({ status: 503, errorCode: "unavailable", message: ADVICE });
    const tool = await gateway.tool("service_get_usage");
    expect([tool.isError, tool.text]).toEqual([true, ADVICE]);

    // An app that ran before can start again.
    expect(await variables.read(appId)).toEqual(known);
    await expect(variables.read(randomUUID())).rejects.toThrow(/database|connect/i);

    await startPostgres();
    await expect.poll(async () => (await rest.get("/readyz")).status).toBe(200);
    expect((await rest.as(String(issued.body["token"])).get("/v1/apps")).status).toBe(200);
    expect((await rest.deploy({ repo: "acme/site" })).status).toBe(201);
    expect(harness.logged()).toContain("PostgreSQL has ended; the service starts it again");
  },
);
