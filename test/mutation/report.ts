import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type AreaResults, type FileResult, hashFiles, readResults, ROOT, type Survivor } from "./area-results.ts";
import { AREAS } from "./areas.ts";
import type { MutationArea } from "./mutation-area.ts";
import { EXPLANATIONS } from "./explanations.ts";
import { sourcesOf, testsOf } from "./run-area.ts";

const INTRODUCTION = `# Mutation testing

\`npm run test:mutation\` writes this page. [Stryker](https://stryker-mutator.io) changes the code in one place at a time, and
runs the tests of the area that execute this place. If they all pass, the change (a mutant) has survived: a bug of this kind
would be noticed by none of these tests. The score is the share of the mutants that a test detects; at least 80 % is the aim.

- Not mutated are log lines and the text of errors, because a test that repeats them word by word guards nothing, and files
  that contain only types, entities or tables.
- [\`test/mutation/areas.ts\`](../test/mutation/areas.ts) lists the sources of each area, and the tests that are meant to guard
  them. A mutant that only another test would detect counts as survived.
- A mutant is active in the process of the test only, so tests that start another process are left out.
- Up to 40 mutants after each other share one test process, because loading the service takes longer than most tests.
- A mutant that exceeds a time limit, of a test or of the run, counts as detected. "Timed out" says how many have, except for
  areas with a run that did not store it. A mutant that only causes an error outside of a test is not counted.
- A static mutant changes code that runs when its module is loaded. It gets a process of its own, and all tests of the area.
`;

/** Writes `docs/mutation.md` from the stored results and the explanations. Returns what is inconsistent. */
export async function writeReport(): Promise<string[]> {
  const sections: string[] = [];
  const rows: string[] = [];
  const problems: string[] = [];
  for (const area of AREAS) {
    const results = await readResults(area);
    const sources = await sourcesOf(area);
    rows.push(summaryRow(area, sources, results));
    if (Object.keys(results).length > 0) sections.push(await section(area, sources, results));
    problems.push(...staleExplanations(sources, results));
  }
  rows.push(await totalRow());
  const table = `| Area | Score | Detected | Timed out | Survived | of these explained | Files measured |\n|---|---|---|---|---|---|---|\n${rows.join("\n")}\n`;
  await writeFile(path.join(ROOT, "docs/mutation.md"), [INTRODUCTION, table, ...sections].join("\n"));
  return problems;
}

function summaryRow({ name }: MutationArea, sources: string[], results: AreaResults): string {
  const files = Object.entries(results);
  if (files.length === 0) return `| ${name} | not measured yet | | | | | 0 of ${sources.length} |`;
  const survivors = files.flatMap(([file, result]) => result.survivors.map((survivor) => explain(file, survivor)));
  const explained = survivors.filter((reason) => reason !== null).length;
  const detected = sum(files.map(([, result]) => result.detected));
  const timedOut = sumKnown(files.map(([, result]) => result.timedOut));
  const score = formatScore(detected, survivors.length);
  return `| ${name} | ${score} | ${detected} | ${timedOut} | ${survivors.length} | ${explained} | ${files.length} of ${sources.length} |`;
}

/** The files that are measured, of all areas together. */
async function totalRow(): Promise<string> {
  const results: AreaResults = Object.assign({}, ...(await Promise.all(AREAS.map(readResults))));
  const sources = (await Promise.all(AREAS.map(sourcesOf))).flat();
  return summaryRow({ name: "All areas", sources: [], tests: [] }, sources, results);
}

async function section(area: MutationArea, sources: string[], results: AreaResults): Promise<string> {
  const tests = await hashFiles(await testsOf(area));
  const lines = [`## ${area.name}`, "", "| File | Score | Detected | Survived |", "|---|---|---|---|"];
  for (const source of sources) lines.push(await fileRow(source, tests, results[source]));
  const survivors = Object.entries(results).flatMap(([file, { survivors: list }]) =>
    list.map((survivor) => survivorRow(file, survivor)),
  );
  if (survivors.length > 0)
    lines.push("", "| Survivor | Code | Changed to | Explanation |", "|---|---|---|---|", ...survivors);
  return `${lines.join("\n")}\n`;
}

async function fileRow(source: string, tests: string, result: FileResult | undefined): Promise<string> {
  if (result === undefined) return `| ${link(source)} | not measured yet | | |`;
  const { detected, survivors } = result;
  const score = detected + survivors.length === 0 ? "no mutants" : formatScore(detected, survivors.length);
  const isUnchanged = result.source === (await hashFiles([source]));
  const note = isUnchanged ? (result.tests === tests ? "" : ", tests changed since") : ", file changed since";
  return `| ${link(source)} | ${score}${note} | ${detected} | ${survivors.length} |`;
}

function survivorRow(file: string, survivor: Survivor): string {
  const { line, original, replacement, covered } = survivor;
  const explanation = explain(file, survivor) ?? (covered ? "not explained yet" : "no test of the area runs this code");
  return `| ${path.basename(file)}:${line} | ${code(original)} | ${code(replacement)} | ${explanation} |`;
}

function explain(file: string, { original, replacement }: Survivor): string | null {
  const found = EXPLANATIONS[file]?.find(
    (candidate) =>
      candidate.original === original && (candidate.replacement === undefined || candidate.replacement === replacement),
  );
  return found?.reason ?? null;
}

/** Explanations of mutants that no longer survive. */
function staleExplanations(sources: string[], results: AreaResults): string[] {
  return sources.flatMap((file) =>
    (EXPLANATIONS[file] ?? [])
      .filter(
        ({ original, replacement }) =>
          !results[file]?.survivors.some(
            (survivor) =>
              survivor.original === original && (replacement === undefined || survivor.replacement === replacement),
          ),
      )
      .map(({ original }) => `explanations.ts: no survivor of ${file} has the code ${original}`),
  );
}

function formatScore(detected: number, survived: number): string {
  return detected + survived === 0 ? "no mutants" : `${((detected / (detected + survived)) * 100).toFixed(1)} %`;
}

function link(source: string): string {
  return `[\`${source}\`](../${source})`;
}

/** Code in a cell of a table. */
function code(text: string): string {
  const escaped = text.replaceAll("|", "\\|");
  return escaped === "" ? "nothing" : escaped.includes("`") ? `\`\` ${escaped} \`\`` : `\`${escaped}\``;
}

/** The sum as text; empty while a value is unknown. */
function sumKnown(values: (number | undefined)[]): string {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? String(sum(known)) : "";
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
