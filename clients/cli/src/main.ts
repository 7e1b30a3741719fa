#!/usr/bin/env node
import module from "node:module";
import { EXIT, explainOutputError } from "./cli-error.ts";
import { VERSION } from "./version.ts";

// From Node 22 on, the second start does not compile the file again.
module.enableCompileCache?.();

if (process.argv.length === 3 && (process.argv[2] === "--version" || process.argv[2] === "-V")) {
  process.stdout.once("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    process.stderr.write(`error: ${explainOutputError(error)}\n`);
    process.exitCode = EXIT.failed;
  });
  process.stdout.write(`${VERSION}\n`);
} else {
  const { run } = await import("./run.ts");
  process.exitCode = await run(process.argv.slice(2));
}
