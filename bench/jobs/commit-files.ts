import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { runCommand } from "../support/run-command.ts";

/** Commits files to the branch `main` of a repository below `folder`, and creates the repository if it does not exist. */
export async function commitFiles(
  folder: string,
  repo: string,
  files: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const worktree = path.join(folder, "worktrees", repo);
  const repository = path.join(folder, "repositories", `${repo}.git`);
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const git = (...args: string[]) => runCommand(["git", ...identity, ...args], { cwd: worktree, signal });
  const isNew = (await mkdir(worktree, { recursive: true })) !== undefined;
  if (isNew) {
    await git("init", "--quiet", "--initial-branch=main");
    await git("init", "--quiet", "--bare", "--initial-branch=main", repository);
  }
  for (const [file, content] of Object.entries(files)) await writeFile(path.join(worktree, file), content);
  await git("add", ".");
  await git("commit", "--quiet", "--message=Change");
  await git("push", "--quiet", repository, "main");
}
