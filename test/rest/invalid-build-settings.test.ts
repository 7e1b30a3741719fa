import { expect } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();

verifies("rest.deploy.400", "400 rejects settings of the build that are not allowed, and stores nothing", async () => {
  const { rest } = await service().tenant();
  const rejected: [object, string][] = [
    [{ root_directory: "../other" }, "root_directory: must be inside the repository"],
    [{ root_directory: 7 }, "root_directory"],
    [{ runtime: "deno" }, "runtime"],
    [{ build_network: true }, "ask the operator to set BUILD_EGRESS=public"],
  ];
  for (const [settings, reason] of rejected) {
    const response = await rest.deploy({ repo: "acme/site", ...settings });
    expect([response.status, response.body]).toEqual([400, { error: expect.stringContaining(reason) }]);
  }
  expect((await rest.get("/v1/apps")).body).toEqual({ apps: [] });
});
