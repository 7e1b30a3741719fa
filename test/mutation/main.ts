/**
 * Measures which changes of the code the tests notice, and writes docs/mutation.md.
 *
 * Usage: npm run test:mutation [-- [--force] [--report] [--concurrency=N] AREA-OR-FILE...]
 *
 * Without names, all areas. Runs only files that have changed, or whose area's tests have changed, since the stored result;
 * `--force` runs all, and `--report` none.
 */
import { slugOf } from "./area-results.ts";
import { AREAS } from "./areas.ts";
import { writeReport } from "./report.ts";
import { runArea, sourcesOf } from "./run-area.ts";

const DEFAULT_CONCURRENCY = 2;

const options = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const names = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const concurrency = options.find((option) => option.startsWith("--concurrency="))?.split("=")[1];
const unknown = options.find((option) => !/^--(force|report|concurrency=[1-9]\d*)$/.test(option));
if (unknown !== undefined) throw new Error(`Unknown option ${unknown}. Valid: --force, --report, --concurrency=N.`);

const areaNames = new Set(AREAS.flatMap((area) => [area.name, slugOf(area)]));
let selected = 0;
for (const area of options.includes("--report") ? [] : AREAS) {
  const isWhole = names.length === 0 || names.includes(area.name) || names.includes(slugOf(area));
  const sources = await sourcesOf(area);
  // The name of an area selects this area only, even if paths of other areas contain it.
  const filters = names.filter((name) => !areaNames.has(name) && sources.some((source) => source.includes(name)));
  if (!isWhole && filters.length === 0) continue;
  selected++;
  const runOptions = {
    concurrency: Number(concurrency ?? DEFAULT_CONCURRENCY),
    force: options.includes("--force"),
    filters: isWhole ? [] : filters,
  };
  await runArea(area, runOptions);
}
if (selected === 0 && !options.includes("--report"))
  throw new Error(`No area or file matches. Areas: ${AREAS.map(({ name }) => name).join(", ")}.`);
for (const problem of await writeReport()) process.stderr.write(`${problem}\n`);
