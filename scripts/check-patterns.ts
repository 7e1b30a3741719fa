/**
 * Looks for a text on which a regular expression of the service takes more than linear time, so that nobody can stop the service
 * with such a text. Prints the expressions with the text, and exits with 1 if there are any. It takes one to four minutes: run it
 * after a change of expressions. Those of `inside` folders run in the sandbox, which ends them in time.
 *
 * Usage: npm run check -- patterns, or node scripts/check-patterns.ts <part of a path>
 */
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { checkSync } from "recheck";
import ts from "typescript-6";

interface Pattern {
  /** The file and the line. */
  place: string;
  source: string;
  flags: string;
}

/** More than any expression has needed. Without a decision, an expression counts as not linear. */
const TIMEOUT_MS = 60_000;
/** The most repetitions that the checker tries one by one. */
const MAX_REPETITIONS = 4;

const part = process.argv[2] ?? "";
const files = execFileSync("git", ["ls-files", "domain", "routers", "server"], { encoding: "utf8" })
  .split("\n")
  .filter((file) => file.endsWith(".ts") && !file.includes("/inside/") && file.includes(part));
const patterns = new Map<string, Pattern>();
for (const file of files)
  for (const pattern of findPatterns(file, await readFile(file, "utf8")))
    patterns.set(`/${pattern.source}/${pattern.flags}`, pattern);
if (patterns.size === 0)
  throw new Error(`there is no regular expression in domain, routers or server with the path ${part}`);

const problems: string[] = [];
for (const [text, { place, source, flags }] of patterns) {
  const result = checkSync(shortenRepetitions(source), flags, { checker: "fuzz", timeout: TIMEOUT_MS });
  if (result.status === "safe") continue;
  problems.push(`${place} ${text}: ${result.status === "vulnerable" ? result.attack.pattern : result.error.kind}`);
}
process.stdout.write([...problems, `${patterns.size} expressions, ${problems.length} not linear\n`].join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;

function findPatterns(file: string, text: string): Pattern[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Pattern[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
      const [, source = "", flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(node.text) ?? [];
      // The checker does not know the flag v, which allows all that the flag u does.
      found.push({ place: `${file}:${line + 1}`, source, flags: flags.replace("v", "u") });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/**
 * Bounds large numbers of repetitions. They only multiply the time by a constant, but the checker reports them as a polynomial,
 * because it tries texts that are not much longer.
 */
function shortenRepetitions(source: string): string {
  return source.replaceAll(/\{(\d+),(\d+)\}/g, (repetition: string, least: string, most: string) =>
    Number(most) > MAX_REPETITIONS ? `{${Math.min(Number(least), 2)},${MAX_REPETITIONS}}` : repetition,
  );
}
