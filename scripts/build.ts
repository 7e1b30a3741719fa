/**
 * Builds the parts of the project that do not run from their sources. Setup builds all of them.
 *
 * Usage: npm run build [-- PART…]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

const root = path.join(import.meta.dirname, "..");

/** The arguments of Node that build each part. */
const PARTS: Record<string, string[]> = {
  dashboard: ["node_modules/vite/bin/vite.js", "build", "--config", "clients/dashboard/vite.config.ts"],
  sdk: ["scripts/build-sdk.ts"],
  cli: ["scripts/build-cli.ts"],
  extension: ["scripts/build-extension.ts"],
  service: ["scripts/build-service.ts"],
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(PARTS);
for (const name of names) {
  const argv = PARTS[name];
  if (argv === undefined) throw new Error(`Unknown part ${name}. The parts are ${Object.keys(PARTS).join(", ")}.`);
  const [code] = (await once(spawn(process.execPath, argv, { cwd: root, stdio: "inherit" }), "close")) as [
    number | null,
  ];
  if (code !== 0) {
    process.exitCode = 1;
    break;
  }
}
