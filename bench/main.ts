/**
 * Measures how fast and how small the service is, and writes `docs/benchmarks.md`.
 *
 * Usage: npm run bench [-- <section…>]   without a section, all of them
 */
import { fileURLToPath } from "node:url";
import { coldStart } from "./cold-start.ts";
import { deploy } from "./deploy.ts";
import { execute } from "./execute.ts";
import { edgeProxy } from "./edge-proxy.ts";
import { gateway } from "./gateway.ts";
import { list } from "./list-apps.ts";
import { memory } from "./memory.ts";
import { search } from "./search.ts";
import { writeReport } from "./support/write-report.ts";
import { scratchFolder } from "./support/scratch-folder.ts";
import type { Findings, Section } from "./support/bench-section.ts";
import { verification } from "./token-verification.ts";

const SECTIONS: readonly Section[] = [
  list,
  deploy,
  edgeProxy,
  memory,
  coldStart,
  gateway,
  execute,
  search,
  verification,
];
const REPORT = fileURLToPath(new URL("../docs/benchmarks.md", import.meta.url));

async function main(names: readonly string[], signal: AbortSignal): Promise<void> {
  const unknown = names.filter((name) => !SECTIONS.some((section) => section.name === name));
  if (unknown.length > 0)
    throw new Error(`No section ${unknown.join(", ")}; there are: ${SECTIONS.map(({ name }) => name).join(", ")}`);
  const findings = new Map<Section, Findings>();
  for (const section of SECTIONS) {
    if (names.length > 0 && !names.includes(section.name)) continue;
    findings.set(section, await measure(section, signal));
    // After each, so that what was measured is not lost when a later one fails.
    await writeReport(REPORT, SECTIONS, findings);
  }
}

async function measure(section: Section, signal: AbortSignal): Promise<Findings> {
  console.log(`\n${section.title} (${section.name})`);
  await using folder = await scratchFolder();
  const found = await section.measure({ signal, folder: folder.path, say: (line) => console.log(`  ${line}`) });
  for (const { what, measured, target, detail } of found.figures)
    console.log(
      `  => ${what}: ${measured} ${target ? `(${target.bound}, ${target.met ? "met" : "MISSED"})` : ""} ${detail}`,
    );
  for (const note of found.notes) console.log(`     ${note}`);
  return found;
}

/** The first Ctrl-C lets everything be cleared away; a second one does not wait for it. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  return controller.signal;
}

const signal = interruption();
try {
  await main(process.argv.slice(2), signal);
} catch (error) {
  console.error(signal.aborted ? "Interrupted; everything is cleared away." : error);
  process.exitCode = 1;
}
