import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { formatToken } from "../../domain/tokens/token-format.ts";
import { createHarness } from "../support/service/harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

verifies(
  ["rest.deploy.500", "rest.list.500", "rest.error.500", hazard(69)],
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

verifies(
  "rest.error.500",
  "500 of every API reveals nothing of an error during authentication, which no procedure handles",
  async () => {
    await using harness = await createHarness();
    const { rest } = await harness.tenant();
    await harness.service.parts.orm.em.fork().execute("alter table machine_tokens rename to tokens_out_of_reach");
    const [apiKey, gatewayToken] = [formatToken("svk", randomBytes(32)), formatToken("svg", randomBytes(32))];
    const body = { jsonrpc: "2.0", id: 1, method: "ping" };
    for (const response of [
      await rest.as(apiKey).get("/v1/apps"),
      await rest.as(apiKey).deploy({ repo: "acme/site" }),
      await rest.as(apiKey).get("/trpc/apps.list"),
      await rest.as(gatewayToken).post("/mcp", body),
    ]) {
      expect(response.status).toBe(500);
      expect(response.text).toContain("X-Request-Id");
      expect(response.text).not.toMatch(/out_of_reach|machine_tokens|relation|select|\.ts|node_modules/i);
      const id = response.headers.get("x-request-id") ?? "none";
      const logLines = harness.logged().split("\n");
      expect(logLines.some((line) => line.includes(id) && line.includes("does not exist"))).toBe(true);
    }
  },
);
