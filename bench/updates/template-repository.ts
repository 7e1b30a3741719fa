import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Lockfile, missingPackages } from "../../scripts/complete-lockfile.ts";
import { runCommand } from "../support/run-command.ts";

/** The React template of create-vite, as a repository that the service can deploy. */
export interface TemplateRepository {
  gitBaseUrl: string;
  repo: string;
  /** Commits a change of the source. The lockfile stays the same. */
  change(): Promise<void>;
}

const CREATE_VITE = "create-vite@9.3.0";

/** Creates the template with the newest versions of its dependencies. Needs the package registry. */
export async function createTemplateRepository(folder: string, signal: AbortSignal): Promise<TemplateRepository> {
  const worktree = path.join(folder, "template");
  const repository = path.join(folder, "repositories", "bench", "template.git");
  const create = ["--yes", CREATE_VITE, "--", "template", "--template", "react-ts", "--no-interactive"];
  await runCommand(["npm", "exec", ...create], { cwd: folder, signal });
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
    repo: "bench/template",
    change: async () => {
      await writeFile(path.join(worktree, "src", "change.ts"), `export const change = ${++changes};\n`);
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
