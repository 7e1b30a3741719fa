import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { createInterface } from "node:readline";

/** Lines of pnpm about its progress, which it prints each second and has no setting against. The last one ends with `done`. */
const PROGRESS = /^(\S+ +\| )?Progress: resolved (?!.*, done$)/;

/** Runs a package manager, and prints what it prints, without its progress. Returns the exit code. */
export async function runPackageManager(program: string, args: readonly string[]): Promise<number> {
  const child = spawn(program, args, { stdio: ["inherit", "pipe", "inherit"] });
  const closed = once(child, "close") as Promise<[code: number | null]>;
  for await (const line of createInterface(child.stdout)) if (!PROGRESS.test(line)) process.stdout.write(`${line}\n`);
  return (await closed)[0] ?? 1;
}

/**
 * Writes the settings of Yarn 2 and later to the home folder. It unsets YARN_IGNORE_PATH for scripts, and ignores settings here that
 * its version does not know. The mirror serves no publication times, without which Yarn rejects every version as too new.
 */
export function writeYarnSettings(): void {
  mkdirSync(homedir(), { recursive: true });
  writeFileSync(
    `${homedir()}/.yarnrc.yml`,
    "ignorePath: true\nnpmMinimalAgeGate: 0\nnpmPreapprovedPackages:\n  - '**'\napprovedGitRepositories:\n  - '**'\n",
  );
}
