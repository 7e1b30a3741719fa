import { defineConfig } from "vitest/config";

/** Builds apps with real frameworks. Takes minutes and needs the network. Run it with `npm run test:frameworks`. */
export default defineConfig({
  test: { include: ["test/frameworks/**/*.slow.ts"], testTimeout: 300_000, maxWorkers: 1 },
});
