import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { runCommand } from "./run-command.ts";

/** Creates a repository whose build runs a shell script. */
export async function createBuildRepository(
  folder: string,
  { name, script }: { name: string; script: string },
  signal: AbortSignal,
): Promise<{ gitBaseUrl: string; repo: string }> {
  const repository = path.join(folder, "repositories", "bench", `${name}.git`);
  const worktree = path.join(folder, name);
  await mkdir(worktree, { recursive: true });
  const files = {
    "package.json": JSON.stringify({ private: true, scripts: { build: "sh build.sh" } }),
    "build.sh": script,
  };
  for (const [file, content] of Object.entries(files)) await writeFile(path.join(worktree, file), content);
  const git = (...args: string[]) =>
    runCommand(["git", "-c", "user.name=Bench", "-c", "user.email=bench@example.com", ...args], {
      cwd: worktree,
      signal,
    });
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", ".");
  await git("commit", "--quiet", "--message=Build");
  await git("clone", "--quiet", "--bare", worktree, repository);
  return { gitBaseUrl: pathToFileURL(path.join(folder, "repositories")).href, repo: `bench/${name}` };
}
