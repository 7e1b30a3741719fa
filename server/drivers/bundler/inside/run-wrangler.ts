// Runs inside the sandbox. Decides what wrangler bundles, then becomes wrangler, and writes the result when wrangler
// exits. One process does it all, because starting wrangler is most of the time that a small app takes.
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
// Wrangler requires a name. The platform replaces it.
process.argv.push(wrangler, "deploy", ...plan.argv, "--name", "app", "--dry-run", "--outfile", formFile);
process.on("exit", (code) => {
  if (code === 0) writeResult(collectBundle(plan, formFile));
});
// Starts wrangler as if it had been named on the command line. With `import`, its 15 MB of CommonJS would go through
// the loader of ES modules, which reads them twice more and takes a tenth of the whole bundling time.
runMain(wrangler);
