// Runs inside the sandbox. Decides what wrangler bundles, runs wrangler in the same process, and writes the result when
// the process exits. A second process would take longer, because most of the time of a small bundle is the start of
// wrangler. Static files need no wrangler, unless something configures it.
//
// A Node server needs no bundle: the result is its start command.
//
// usage: node run-wrangler.ts <wrangler> <result file> <form file> <source folder> [worker | node]
import { writeFileSync } from "node:fs";
import { runMain } from "node:module";
import type { BundleResult } from "../read-bundle-result.ts";
import { bundleStaticFiles } from "./bundle-static-files.ts";
import { collectBundle } from "./collect-bundle.ts";
import { keepDatabasesInData } from "./node-server/database-paths.ts";
import { keepVolumes } from "./node-server/declared-volumes.ts";
import { selectServerFiles } from "./node-server/server-files.ts";
import { readManifest } from "./package-json.ts";
import { planBundle } from "./plan-bundle.ts";

const [, wrangler = "", resultFile = "", formFile = "", source = "", runtime] = process.argv.splice(1);
const writeResult = (result: BundleResult) => writeFileSync(resultFile, JSON.stringify(result));

const plan = await planBundle(runtime === "worker" || runtime === "node" ? runtime : null);
if ("failure" in plan || "server" in plan) {
  if ("failure" in plan) writeResult(plan);
  else {
    const { command, database } = plan.server;
    const server = { ...plan.server, ...selectServerFiles(source, command, database.migration) };
    writeResult({ server: keepVolumes(keepDatabasesInData(server, readManifest(".")), source) });
  }
  process.exit(0);
}
const staticBundle = bundleStaticFiles(plan, wrangler, formFile);
if (staticBundle !== null) {
  writeResult(staticBundle);
  process.exit(0);
}
process.argv.push(wrangler, ...plan.argv, "--outfile", formFile);
omitFromOutput(process.stdout);
omitFromOutput(process.stderr);
process.on("exit", (code) => {
  if (code === 0) writeResult(collectBundle(plan, formFile));
});
// Starts wrangler as the main module. With `import`, its 15 MB of CommonJS would go through the loader of ES modules,
// which reads them twice more and takes a tenth of the whole bundling time.
runMain(wrangler);

/** Omits the lines of wrangler's output that would mislead the owner, who knows of no dry run and cannot read the file. */
function omitFromOutput(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as (...values: unknown[]) => boolean;
  const omit = (text: string) =>
    text.replaceAll(/^(--dry-run: exiting now\.|🪵 +Logs were written to .*)(\n|$)/gmu, "");
  stream.write = (...[chunk, ...rest]: unknown[]) => write(typeof chunk === "string" ? omit(chunk) : chunk, ...rest);
}
