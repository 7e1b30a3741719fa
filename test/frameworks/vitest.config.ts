import { defineConfig } from "vitest/config";

/** Apps of real frameworks, which take minutes and the network: `npm run test:frameworks`. */
export default defineConfig({
  test: { include: ["test/frameworks/**/*.slow.ts"], testTimeout: 300_000, maxWorkers: 1 },
});
