import { readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import type { Figure, Findings, Section } from "./bench-section.ts";

const INTRODUCTION = `# Benchmarks

Written by \`npm run bench\`; do not edit it by hand. \`npm run bench -- <section…>\` measures only the sections that are
named and leaves the others as they are. It needs what the service needs, and a Postgres at \`TEST_DATABASE_URL\`.

What is compared is measured in turn, in one run: A B, B A, A B … A ratio is the median of the ratios of the rounds, so
a round that the machine slowed down counts no more than another one. The absolute values are medians too; they hold
for the machine that is named below them, and say little about another one.
`;

/** Puts the findings of some sections into the report, in the order of `all`, and keeps what it says about the others. */
export async function writeReport(
  file: string,
  all: readonly Section[],
  findings: ReadonlyMap<Section, Findings>,
): Promise<void> {
  const earlier = await readFile(file, "utf8").catch(() => "");
  const parts = all.map((section) => {
    const found = findings.get(section);
    return found === undefined ? partIn(earlier, section) : partOf(section, found);
  });
  await writeFile(file, [INTRODUCTION, ...parts.filter((part) => part !== null)].join("\n"));
}

function partIn(report: string, { title }: Section): string | null {
  return (
    report
      .split(/^(?=## )/m)
      .find((part) => part.startsWith(`## ${title}\n`))
      ?.trimEnd()
      .concat("\n") ?? null
  );
}

function partOf({ name, title, method }: Section, { figures, notes }: Findings): string {
  const table = ["| figure | measured | target | behind it |", "|---|---|---|---|", ...figures.map(rowOf)].join("\n");
  const machine = `Measured on ${machineInWords()} with \`npm run bench -- ${name}\`.`;
  return `${[`## ${title}`, method, table, ...notes, machine].join("\n\n")}\n`;
}

function rowOf({ what, measured, target, detail }: Figure): string {
  const bound = target === null ? "" : `${target.bound}, ${target.met ? "met" : "**missed**"}`;
  return `| ${what} | ${measured} | ${bound} | ${detail} |`;
}

function machineInWords(): string {
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} cores with ${gigabytes} GB of memory, Linux, Node ${process.versions.node}`;
}
