/**
 * Runs all checks, or the named ones. Prints one line for each check, then the output of the failed ones.
 *
 * Usage: npm run check [-- NAME…]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";

const root = path.join(import.meta.dirname, "..");

/** What a check is about, and its commands, which run one after the other. */
interface Check {
  subject: string;
  commands: string[][];
}

const TSC = ["node", "node_modules/typescript/bin/tsc", "--noEmit"];

const CHECKS: Record<string, Check> = {
  types: {
    subject: "types",
    commands: [TSC, ...["dashboard", "sdk", "cli"].map((client) => [...TSC, "-p", `clients/${client}`])],
  },
  lint: { subject: "lint", commands: [["oxlint"]] },
  format: { subject: "formatting (npm run format corrects it)", commands: [["oxfmt", "--check"]] },
  imports: {
    subject: "import rules",
    commands: [
      [
        "node",
        "--import",
        "./scripts/preload-typescript-6.ts",
        "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs",
        ".",
      ],
    ],
  },
  unused: { subject: "unused files, exports and dependencies", commands: [["knip", "--no-config-hints"]] },
  lockfile: {
    subject: "package-lock.json lists the packages of every platform (npm run lockfile adds them)",
    commands: [
      ["node", "scripts/complete-lockfile.ts", "--check"],
      ["npm", "ci", "--dry-run", "--offline", "--no-audit", "--no-fund", "--loglevel=error"],
    ],
  },
  docs: {
    subject: "decisions, and generated documentation (npm run docs updates it)",
    commands: [
      ["node", "scripts/check-decisions.ts"],
      ["node", "scripts/generate-docs.ts", "--check"],
    ],
  },
  openapi: { subject: "the OpenAPI document", commands: [["redocly", "lint", "docs/openapi.json"]] },
};

/** Takes one to four minutes, so it runs only where it is named. */
const PATTERNS: Check = {
  subject: "regular expressions take linear time",
  commands: [["node", "scripts/check-patterns.ts"]],
};

function selectChecks(names: string[]): Check[] {
  if (names.length === 0) return Object.values(CHECKS);
  const all = { ...CHECKS, patterns: PATTERNS };
  return names.map((name) => {
    const check = (all as Record<string, Check>)[name];
    if (check === undefined) throw new Error(`Unknown check ${name}. The checks are ${Object.keys(all).join(", ")}.`);
    return check;
  });
}

/** Runs one command with the programs of node_modules in its path. Returns its output if it fails, else `null`. */
async function run([program = "", ...args]: string[]): Promise<string | null> {
  const PATH = `${path.join(root, "node_modules/.bin")}${path.delimiter}${process.env["PATH"] ?? ""}`;
  const child = spawn(program, args, { cwd: root, env: { ...process.env, PATH }, stdio: ["ignore", "pipe", "pipe"] });
  const [[code], ...output] = await Promise.all([
    once(child, "close") as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return code === 0 ? null : `${[program, ...args].join(" ")}\n${output.join("").trim()}`;
}

const failures: string[] = [];
for (const { subject, commands } of selectChecks(process.argv.slice(2))) {
  const startedAt = performance.now();
  let failure: string | null = null;
  for (const command of commands) failure ??= await run(command);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${failure === null ? "ok    " : "FAILED"} ${seconds.padStart(5)} s  ${subject}`);
  if (failure !== null) failures.push(`\n--- ${failure}`);
}

console.log(failures.join("\n"));
process.exitCode = failures.length === 0 ? 0 : 1;
