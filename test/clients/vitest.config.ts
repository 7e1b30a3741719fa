import { defineConfig } from "vitest/config";

/** Installs real MCP clients and drives them. Takes minutes and needs the npm registry. Run it with `npm run test:clients`. */
export default defineConfig({
  test: {
    include: ["test/clients/**/*.slow.ts"],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    maxWorkers: 1,
  },
});
