// Runs inside the sandbox. Decides what wrangler bundles, runs wrangler in the same process, and writes the result when
// the process exits. A second process would take longer, because most of the time of a small bundle is the start of
// wrangler.
//
// usage: node run-wrangler.ts <wrangler> <result file> <form file>
import { writeFileSync } from "node:fs";
import { runMain } from "node:module";
import type { BundleResult } from "../read-bundle-result.ts";
import { collectBundle } from "./collect-bundle.ts";
import { planBundle } from "./plan-bundle.ts";

const [, wrangler, resultFile, formFile] = process.argv.splice(1) as [string, string, string, string];
const writeResult = (result: BundleResult) => writeFileSync(resultFile, JSON.stringify(result));

const plan = await planBundle();
if ("failure" in plan) {
  writeResult(plan);
  process.exit(0);
}
process.argv.push(wrangler, ...plan.argv, "--outfile", formFile);
omitFromOutput("--dry-run: exiting now.");
process.on("exit", (code) => {
  if (code === 0) writeResult(collectBundle(plan, formFile));
});
// Starts wrangler as the main module. With `import`, its 15 MB of CommonJS would go through the loader of ES modules,
// which reads them twice more and takes a tenth of the whole bundling time.
runMain(wrangler);

/** Omits a line of wrangler's output that would mislead the reader of a build log, who knows nothing of a dry run. */
function omitFromOutput(line: string): void {
  const write = process.stdout.write.bind(process.stdout) as (...values: unknown[]) => boolean;
  process.stdout.write = (...[chunk, ...rest]: unknown[]) => write(chunk === `${line}\n` ? "" : chunk, ...rest);
}
