import { tmpdir } from "node:os";
import { expect } from "vitest";
import { DEFAULT_LIMITS } from "../../server/drivers/bundler/wrangler-bundler.ts";
import { createTestBundler } from "../support/builds/create-bundler.ts";
import { failureOf } from "../support/builds/bundle-checkout.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { bundlerContract } from "./bundler.ts";

// Nothing in the contract installs a package.
bundlerContract(createTestBundler({}, tmpdir()));

verifies(
  hazard(18),
  "a pattern that takes forever to match costs the build its time, and not the service",
  async () => {
    const bundler = createTestBundler({}, tmpdir(), { bundling: { ...DEFAULT_LIMITS.bundling, wallTimeMs: 6000 } });
    const stalls: number[] = [];
    let seen = performance.now();
    const timer = setInterval(() => {
      stalls.push(performance.now() - seen);
      seen = performance.now();
    }, 20);
    const failure = await failureOf(bundler, {
      "wrangler.json": JSON.stringify({ compatibility_date: "2026-06-01", assets: { directory: "static" } }),
      "static/.assetsignore": `${"/**/a".repeat(12)}b`,
      [`static/${"a/".repeat(50)}page.html`]: "page",
    });
    clearInterval(timer);
    expect(failure).toMatchObject({ kind: "user", message: expect.stringContaining("The bundling took longer than") });
    expect(Math.max(...stalls)).toBeLessThan(2000);
  },
);
