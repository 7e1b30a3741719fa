import { expect } from "vitest";
import { createHarness } from "../support/service/harness.ts";
import { verifies } from "../support/verifies.ts";

verifies(
  ["rest.deploy.500", "rest.list.500", "rest.error.500"],
  "500 reveals nothing of an internal error, which is in the log with the request id",
  async () => {
    await using harness = await createHarness();
    const { rest } = await harness.tenant();
    await rest.get("/v1/apps");
    await harness.service.parts.orm.em.fork().execute("alter table apps rename to apps_out_of_reach");
    for (const response of [await rest.get("/v1/apps"), await rest.deploy({ repo: "acme/site" })]) {
      expect([response.status, response.body]).toEqual([500, { error: expect.stringContaining("X-Request-Id") }]);
      expect(response.text).not.toMatch(/apps_out_of_reach|relation|select|\.ts|node_modules/i);
      const id = response.headers.get("x-request-id") ?? "none";
      expect(
        harness
          .logged()
          .split("\n")
          .some((line) => line.includes(id) && line.includes("does not exist")),
      ).toBe(true);
    }
    expect((await rest.get("/healthz")).status).toBe(200);
  },
);
