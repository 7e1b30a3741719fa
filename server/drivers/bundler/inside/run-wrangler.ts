// Becomes the process of wrangler: chooses what wrangler bundles before it starts, and tells the host what came of it
// when it has ended. One process does it all, because starting wrangler is most of what a small app costs.
//
// usage: node bundle.ts <wrangler> <result file> <form file>
import { writeFileSync } from "node:fs";
import { runMain } from "node:module";
import { collect } from "./collect-bundle.ts";
import { planBundle } from "./plan-bundle.ts";
import type { BundleResult } from "./bundle-result.ts";

const [, wrangler, resultFile, formFile] = process.argv.splice(1) as [string, string, string, string];
const report = (result: BundleResult) => writeFileSync(resultFile, JSON.stringify(result));

const plan = await planBundle();
if ("failure" in plan) {
  report(plan);
  process.exit(0);
}
// The name is the platform's to give; wrangler wants some.
process.argv.push(wrangler, "deploy", ...plan.argv, "--name", "app", "--dry-run", "--outfile", formFile);
process.on("exit", (code) => {
  if (code === 0) report(collect(plan, formFile));
});
// As if it had been named on the command line. Preloading us into wrangler instead would send its 15 MB of CommonJS
// through the loader of ES modules, which reads them twice more and takes a tenth of the whole bundling.
runMain(wrangler);
