#!/usr/bin/env node
import module from "node:module";
import { VERSION } from "./version.ts";

// From Node 22 on, the second start does not compile the file again.
module.enableCompileCache?.();

if (process.argv.length === 3 && (process.argv[2] === "--version" || process.argv[2] === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { run } = await import("./run.ts");
  process.exitCode = await run(process.argv.slice(2));
}
