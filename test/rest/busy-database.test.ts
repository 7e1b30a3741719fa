import { expect } from "vitest";
import { createHarness } from "../support/service/harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

verifies(
  hazard(43),
  "503 with Retry-After for a call that gets no connection from the pool in time, and later calls succeed",
  async () => {
    await using harness = await createHarness();
    const { rest } = await harness.tenant();
    await rest.get("/v1/apps");
    const busy = Array.from({ length: 10 }, () => harness.service.parts.orm.em.fork());
    for (const em of busy) await em.begin();
    const response = await rest.get("/v1/apps");
    expect([response.status, response.body, response.headers.get("retry-after")]).toEqual([
      503,
      { error: "The service's database is busy, and nothing was changed. Try again in a few seconds." },
      "1",
    ]);
    for (const em of busy) await em.rollback();
    expect((await rest.get("/v1/apps")).status).toBe(200);
  },
);
