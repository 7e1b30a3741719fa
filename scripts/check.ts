/** Runs every check, one line each, and shows the output of those that fail. Each is an npm script of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

const CHECKS = {
  "check:types": "types",
  "check:lint": "lint",
  "check:format": "formatting (npm run format mends it)",
  "check:imports": "who imports whom",
  "check:unused": "unused files, exports and dependencies",
  "check:lockfile": "package-lock.json names every platform's packages",
  "docs:check": "generated documentation (npm run docs mends it)",
  "check:openapi": "the OpenAPI document",
};

const failures: string[] = [];
for (const [script, subject] of Object.entries(CHECKS)) {
  const startedAt = performance.now();
  const child = spawn("npm", ["run", "--silent", script], { stdio: ["ignore", "pipe", "pipe"] });
  const [[code], ...output] = await Promise.all([
    once(child, "close") as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${seconds.padStart(5)} s  ${subject}`);
  if (code !== 0) failures.push(`\n--- npm run ${script}\n${output.join("").trim()}`);
}

console.log(failures.join("\n"));
process.exitCode = failures.length === 0 ? 0 : 1;
