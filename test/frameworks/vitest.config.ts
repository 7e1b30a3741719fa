import { defineConfig } from "vitest/config";

/**
 * Builds apps with real frameworks, which needs the network, and with Bun and Yarn 2 and later. Takes minutes. Run it with
 * `npm run test:frameworks`.
 */
export default defineConfig({
  test: { include: ["test/frameworks/**/*.slow.ts"], testTimeout: 300_000, hookTimeout: 120_000, maxWorkers: 1 },
});
