/**
 * Measures the speed and the memory of the service, and writes `docs/benchmarks.md`.
 *
 * Usage: npm run bench [-- <section…>]   without a section, all of them
 */
import { fileURLToPath } from "node:url";
import { answerQuality } from "./answer-quality.ts";
import { commandLine } from "./cli.ts";
import { coldStart } from "./cold-start.ts";
import { customization } from "./customization.ts";
import { dashboard } from "./dashboard.ts";
import { deploy } from "./deploy.ts";
import { edgeProxy } from "./edge-proxy.ts";
import { edges } from "./edges.ts";
import { execute } from "./execute.ts";
import { fairness } from "./fairness.ts";
import { gateway } from "./gateway.ts";
import { transcripts } from "./import.ts";
import { jobs } from "./jobs.ts";
import { knowledge } from "./knowledge.ts";
import { listApps } from "./list-apps.ts";
import { logStreams } from "./log-streams.ts";
import { memory } from "./memory.ts";
import { memoryRecall } from "./memory-recall.ts";
import { express, nextJs } from "./node-servers.ts";
import { restBesideBuilds } from "./rest-beside-builds.ts";
import { sessions } from "./sessions.ts";
import { startup } from "./startup.ts";
import { search } from "./search.ts";
import { searchQuality } from "./search-quality.ts";
import { searchSpeed } from "./search-speed.ts";
import type { Section, SectionResult } from "./support/bench-section.ts";
import { createScratchFolder } from "./support/scratch-folder.ts";
import { writeReport } from "./support/write-report.ts";
import { updates } from "./updates.ts";
import { tokenVerification } from "./token-verification.ts";

const SECTIONS: readonly Section[] = [
  startup,
  listApps,
  deploy,
  updates,
  customization,
  dashboard,
  edgeProxy,
  edges,
  memory,
  coldStart,
  express,
  nextJs,
  commandLine,
  gateway,
  jobs,
  execute,
  restBesideBuilds,
  fairness,
  logStreams,
  search,
  searchQuality,
  searchSpeed,
  knowledge,
  answerQuality,
  memoryRecall,
  sessions,
  tokenVerification,
  transcripts,
];
const REPORT = fileURLToPath(new URL("../docs/benchmarks.md", import.meta.url));

async function main(names: readonly string[], signal: AbortSignal): Promise<void> {
  const unknown = names.filter((name) => !SECTIONS.some((section) => section.name === name));
  if (unknown.length > 0)
    throw new Error(
      `Unknown section: ${unknown.join(", ")}. Sections: ${SECTIONS.map(({ name }) => name).join(", ")}.`,
    );
  const results = new Map<Section, SectionResult>();
  for (const section of SECTIONS) {
    if (names.length > 0 && !names.includes(section.name)) continue;
    results.set(section, await measure(section, signal));
    // Written after each section, so that results are not lost when a later section fails.
    await writeReport(REPORT, SECTIONS, results);
  }
}

async function measure(section: Section, signal: AbortSignal): Promise<SectionResult> {
  console.log(`\n${section.title} (${section.name})`);
  await using folder = await createScratchFolder();
  const log = (line: string): void => console.log(`  ${line}`);
  const sectionResult = await section.measure({ signal, folder: folder.path, log });
  for (const { name, result, target, details } of sectionResult.metrics) {
    const bound = target ? `(${target.bound}, ${target.met ? "met" : "MISSED"})` : "";
    log(`=> ${name}: ${result} ${bound} ${details}`);
  }
  for (const note of sectionResult.notes) log(`   ${note}`);
  return sectionResult;
}

/** Aborts on the first Ctrl-C, so that all resources are removed. A second Ctrl-C exits at once. */
function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  return controller.signal;
}

const signal = abortOnInterrupt();
try {
  await main(process.argv.slice(2), signal);
} catch (error) {
  console.error(signal.aborted ? "Interrupted. All resources were removed." : error);
  process.exitCode = 1;
}
