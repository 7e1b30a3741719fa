import { readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import type { Metric, Section, SectionResult } from "./bench-section.ts";

const INTRODUCTION = `# Benchmarks

This file is written by \`npm run bench\`; do not edit it. \`npm run bench -- <section…>\` measures only the named sections and
keeps the results of the others. It needs the requirements of the service, and a Postgres server at \`TEST_DATABASE_URL\`.

The service and its baseline are measured alternately in one run: A B, B A, A B … A ratio is the median of the ratios of all
rounds, so a round in which the machine was slow has no more weight than others. The absolute values are medians too. They
are valid only for the machine that is named below them.
`;

/** Writes the results of some sections to the report, in the order of `sections`, and keeps the text of the others. */
export async function writeReport(
  file: string,
  sections: readonly Section[],
  results: ReadonlyMap<Section, SectionResult>,
): Promise<void> {
  const previous = await readFile(file, "utf8").catch(() => "");
  const parts = sections.map((section) => {
    const result = results.get(section);
    return result === undefined ? findPart(previous, section) : formatPart(section, result);
  });
  await writeFile(file, [INTRODUCTION, ...parts.filter((part) => part !== null)].join("\n"));
}

/** Finds the part of a section by the command that measured it, because a title may have changed since. */
function findPart(report: string, { name }: Section): string | null {
  const parts = report.split(/^(?=## )/m);
  return (
    parts
      .find((part) => part.includes(commandOf(name)))
      ?.trimEnd()
      .concat("\n") ?? null
  );
}

function formatPart({ name, title, method }: Section, { metrics, notes }: SectionResult): string {
  const table = ["| Metric | Result | Target | Details |", "|---|---|---|---|", ...metrics.map(formatRow)].join("\n");
  const machine = `Measured on ${describeMachine()} with ${commandOf(name)}.`;
  return `${[`## ${title}`, method, table, ...notes, machine].join("\n\n")}\n`;
}

function commandOf(section: string): string {
  return `\`npm run bench -- ${section}\``;
}

function formatRow({ name, result, target, details }: Metric): string {
  const bound = target === null ? "" : `${target.bound}, ${target.met ? "met" : "**missed**"}`;
  return `| ${name} | ${result} | ${bound} | ${details} |`;
}

function describeMachine(): string {
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} cores with ${gigabytes} GB of memory, Linux, Node ${process.versions.node}`;
}
