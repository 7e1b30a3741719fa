import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { runCommand } from "../support/run-command.ts";

/** How many shells one build runs, each in an endless loop. */
export const SHELLS = 400;

/** The loop of a shell, which also identifies it in a process list. */
const LOOP = "while :; do : busy-shell-of-benchmark; done";

const FILES = {
  "package.json": JSON.stringify({ private: true, scripts: { build: "sh busy.sh" } }),
  "busy.sh": `for n in $(seq ${SHELLS}); do sh -c '${LOOP}' & done\nwait\n`,
};

export const LOOP_MARK = "busy-shell-of-benchmark";

/** Creates a repository whose build never ends and keeps every core busy. */
export async function createBusyRepository(
  folder: string,
  signal: AbortSignal,
): Promise<{ gitBaseUrl: string; repo: string }> {
  const repository = path.join(folder, "repositories", "bench", "busy.git");
  const worktree = path.join(folder, "busy");
  await mkdir(worktree, { recursive: true });
  for (const [name, content] of Object.entries(FILES)) await writeFile(path.join(worktree, name), content);
  const git = (...args: string[]) =>
    runCommand(["git", "-c", "user.name=Bench", "-c", "user.email=bench@example.com", ...args], {
      cwd: worktree,
      signal,
    });
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", ".");
  await git("commit", "--quiet", "--message=Busy build");
  await git("clone", "--quiet", "--bare", worktree, repository);
  return { gitBaseUrl: pathToFileURL(path.join(folder, "repositories")).href, repo: "bench/busy" };
}
