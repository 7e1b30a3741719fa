/**
 * Checks that each decision has its number, a status with a date, and at most 400 words, and that a superseded or amended one links to
 * the decision that changed it.
 *
 * Usage: node scripts/check-decisions.ts [FOLDER]
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const FOLDER = process.argv[2] ?? path.join(import.meta.dirname, "../docs/decisions");
const MAX_WORDS = 400;

const STATUS =
  /^\*(?:Accepted|Superseded) (\d{4}-\d\d-\d\d)(?:, (?:amended )?by \[decision \d+\]\((\d{4}-[\w-]+\.md)\))?\*$/;

const files = readdirSync(FOLDER).toSorted();

function findProblems(file: string, index: number, text: string): string[] {
  const [title = "", , status = ""] = text.split("\n");
  const words = text.split(/\s+/).filter((word) => word !== "").length;
  const [, date = "", changedBy] = STATUS.exec(status) ?? [];
  const number = index + 1;
  const hasNumber = file.startsWith(`${String(number).padStart(4, "0")}-`) && title.startsWith(`# ${number}. `);
  return [
    hasNumber ? "" : `is decision ${number}, but its name or its title has another number`,
    isDate(date) ? "" : "line 3 is not *Accepted YYYY-MM-DD* or *Superseded YYYY-MM-DD, by [decision N](FILE)*",
    status.startsWith("*Superseded") && changedBy === undefined
      ? "does not link to the decision that supersedes it"
      : "",
    changedBy === undefined || files.includes(changedBy) ? "" : `links to ${changedBy}, which does not exist`,
    words <= MAX_WORDS ? "" : `has ${words} words, at most ${MAX_WORDS} are allowed`,
  ].filter((problem) => problem !== "");
}

function isDate(text: string): boolean {
  return !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);
}

for (const [index, file] of files.entries())
  for (const problem of findProblems(file, index, readFileSync(path.join(FOLDER, file), "utf8"))) {
    console.error(`${file} ${problem}`);
    process.exitCode = 1;
  }
