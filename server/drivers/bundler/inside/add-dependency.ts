// Runs inside the sandbox. Adds one package to package.json and, if there is one, to the lockfile. Installs nothing where the
// package manager can do without.
//
// usage: node add-dependency.ts <package manager> <lockfile or ""> <registry> <name@range> <production or development>
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { runPackageManager, writeYarnSettings } from "./run-package-manager.ts";

interface Command {
  add: readonly string[];
  development: string;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  npm: { add: ["install", "--package-lock-only", "--ignore-scripts"], development: "--save-dev" },
  pnpm: { add: ["add", "--lockfile-only", "--ignore-scripts"], development: "--save-dev" },
  yarn: { add: ["add", "--ignore-scripts", "--non-interactive"], development: "--dev" },
  "yarn-berry": { add: ["add", "--mode=update-lockfile"], development: "--dev" },
  bun: { add: ["add", "--ignore-scripts", "--lockfile-only"], development: "--development" },
};

/** The registry that the lockfiles of most projects name. */
const PUBLIC_REGISTRY = "https://registry.npmjs.org/";

const [packageManager, lockfile, registry, dependency, kind] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const { add, development } = COMMANDS[packageManager] ?? { add: [], development: "" };
const hadModules = existsSync("node_modules");
writeYarnSettings();
const program = packageManager === "yarn-berry" ? "yarn" : packageManager;
const options = [...add, ...(kind === "development" ? [development] : []), dependency];
process.exitCode = await runPackageManager(program, options);
if (!hadModules) rmSync("node_modules", { recursive: true, force: true });
if (lockfile === "") removeNewLockfiles();
else if (existsSync(lockfile)) {
  const text = readFileSync(lockfile, "utf8");
  // The URL of the mirror is valid for this session only.
  if (text.includes(registry)) writeFileSync(lockfile, text.replaceAll(registry, PUBLIC_REGISTRY));
}

/** A project without a lockfile gets none. */
function removeNewLockfiles(): void {
  for (const name of ["package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"]) rmSync(name, { force: true });
}
