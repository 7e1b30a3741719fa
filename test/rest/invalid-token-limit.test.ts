import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { formatToken } from "../../domain/tokens/token-format.ts";
import { createHarness } from "../support/service/harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

verifies(
  hazard(32),
  "429 limits invalid tokens per client address, and a token that was valid before still works",
  async () => {
    await using harness = await createHarness();
    const tenant = await harness.tenant();
    const other = await harness.tenant();
    expect((await tenant.rest.get("/v1/apps")).status).toBe(200);
    const createToken = () => formatToken("svk", randomBytes(32));
    const mistype = (token: string) => token.slice(0, -1) + (token.endsWith("a") ? "b" : "a");
    const tryTokens = (count: number, create: () => string) =>
      Promise.all(Array.from({ length: count }, async () => (await tenant.rest.as(create()).get("/v1/apps")).status));
    // A token with a wrong checksum is rejected without a database query, so it does not count.
    expect(new Set(await tryTokens(80, () => mistype(createToken())))).toEqual(new Set([401]));
    expect(new Set(await tryTokens(60, createToken))).toEqual(new Set([401]));
    const rejected = await tenant.rest.as(createToken()).get("/v1/apps");
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)]);
    expect((await other.rest.get("/v1/apps")).status).toBe(429);
    expect((await tenant.rest.get("/v1/apps")).status).toBe(200);
  },
);
