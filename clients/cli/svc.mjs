#!/usr/bin/env node
// Runs the command line of a checkout: the built file, which `npm run setup` and `npm run build -- cli` write.
import { existsSync } from "node:fs";

const built = new URL("../../.cache/downloads/cli/svc.js", import.meta.url);
if (existsSync(built)) await import(built.href);
else {
  process.stderr.write("error: The command line is not built. Run: npm run setup\n");
  process.exitCode = 1;
}
