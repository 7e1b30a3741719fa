/** Runs all checks. Prints one line for each check, then the output of the failed ones. Each check is also an npm script. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

const CHECKS = {
  "check:types": "types",
  "check:lint": "lint",
  "check:format": "formatting (npm run format corrects it)",
  "check:imports": "import rules",
  "check:unused": "unused files, exports and dependencies",
  "check:lockfile": "package-lock.json lists the packages of every platform",
  "docs:check": "generated documentation (npm run docs updates it)",
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
