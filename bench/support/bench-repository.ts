import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Lockfile, missingPackages } from "../../scripts/complete-lockfile.ts";
import { runCommand } from "./run-command.ts";

/** A repository that the service can deploy. */
export interface BenchRepository {
  gitBaseUrl: string;
  repo: string;
  /** Commits a change of one file. The lockfile stays the same. */
  change(): Promise<void>;
}

/**
 * Makes a repository of the files in `<folder>/<name>`, with a lockfile of the newest versions. Needs the package registry.
 *
 * @param changing - the file that `change` writes
 */
export async function createBenchRepository(
  folder: string,
  { name, changing }: { name: string; changing: string },
  signal: AbortSignal,
): Promise<BenchRepository> {
  const worktree = path.join(folder, name);
  const repository = path.join(folder, "repositories", "bench", `${name}.git`);
  await runCommand(["npm", "install", "--package-lock-only", "--no-audit", "--no-fund"], { cwd: worktree, signal });
  await completeLockfile(path.join(worktree, "package-lock.json"));
  const identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"];
  const git = (...args: string[]) => runCommand(["git", ...identity, ...args], { cwd: worktree, signal });
  const commit = async () => {
    await git("add", ".");
    await git("commit", "--quiet", "--message=Change");
  };
  await git("init", "--quiet", "--initial-branch=main");
  await commit();
  await git("clone", "--quiet", "--bare", worktree, repository);
  let changes = 0;
  return {
    gitBaseUrl: pathToFileURL(path.join(folder, "repositories")).href,
    repo: `bench/${name}`,
    change: async () => {
      await writeFile(path.join(worktree, changing), `export const change = ${++changes};\n`);
      await commit();
      await git("push", "--quiet", repository, "main");
    },
  };
}

/** A registry may lack the packages of other platforms, and npm refuses a lockfile without them. */
async function completeLockfile(file: string): Promise<void> {
  const lockfile = JSON.parse(await readFile(file, "utf8")) as Lockfile;
  lockfile.packages = { ...lockfile.packages, ...missingPackages(lockfile) };
  await writeFile(file, JSON.stringify(lockfile, null, 2));
}
