import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { Repository } from "../../support/builds/git-repository.ts";
import type { PublicRepository } from "./public-repository.ts";

/** The repository could not be fetched, so nothing was deployed. */
export class NotFetched extends Error {}

/** A repository on this machine, or one that was fetched. */
interface Source {
  gitDirectory: string;
  commit: string;
}

/**
 * Copies the newest commit of a public repository to `base`, as the repository `name` that an app deploys from. The repository
 * is read from the folder REPOSITORIES_DIR, which has it as `owner/name`, otherwise from GitHub.
 *
 * @throws {NotFetched} when the repository or its folder cannot be read
 */
export async function publishRepository({ repo, folder }: PublicRepository, base: string, name: string): Promise<void> {
  const repository = await Repository.create(base, name);
  const { gitDirectory, commit } = findLocal(repo) ?? fetch(repo, repository.path);
  // The objects of a repository on this machine are read where they are.
  const env = {
    GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(gitDirectory, "objects"),
    GIT_INDEX_FILE: path.join(repository.path, "published-index"),
  };
  const git = (args: readonly string[], input = "") => runGit(args, repository.path, { env, input });
  git(["read-tree", `${commit}:${folder ?? ""}`]);
  emptyMissingFiles(git);
  const tree = git(["write-tree"]);
  git(["pack-objects", "--quiet", "--revs", "objects/pack/pack"], `${tree}\n`);
  await repository.commit(tree);
}

type Git = (args: readonly string[], input?: string) => string;

/** A mirror may have left out large files, such as films. They are published without content. */
function emptyMissingFiles(git: Git): void {
  const files = git(["ls-files", "--stage", "-z"])
    .split("\0")
    .map((entry) => /^(\d+) (\w+) \d\t(.*)$/s.exec(entry));
  const blobs = files.filter((entry) => entry !== null && entry[1] !== "160000");
  const ids = blobs.map((entry) => entry?.[2] ?? "");
  const missing = new Set(
    git(["cat-file", "--batch-check"], `${ids.join("\n")}\n`)
      .split("\n")
      .filter((line) => line.endsWith(" missing"))
      .map((line) => line.split(" ")[0]),
  );
  if (missing.size === 0) return;
  const empty = git(["hash-object", "-w", "--stdin"]);
  const replaced = blobs.filter((entry) => missing.has(entry?.[2]));
  git(
    ["update-index", "-z", "--index-info"],
    replaced.map((entry) => `${entry?.[1]} ${empty}\t${entry?.[3]}\0`).join(""),
  );
}

function findLocal(repo: string): Source | null {
  const directory = process.env["REPOSITORIES_DIR"];
  if (directory === undefined) return null;
  const found = [repo, `${repo}.git`].map((name) => path.resolve(directory, name)).find((each) => existsSync(each));
  if (found === undefined) throw new NotFetched(`The folder REPOSITORIES_DIR has no ${repo}.`);
  const inside = path.join(found, ".git");
  const gitDirectory = existsSync(inside) ? inside : found;
  return { gitDirectory, commit: runGit(["rev-parse", "HEAD"], gitDirectory) };
}

function fetch(repo: string, gitDirectory: string): Source {
  runGit(["fetch", "--quiet", "--depth", "1", `https://github.com/${repo}.git`, "HEAD"], gitDirectory);
  return { gitDirectory, commit: "FETCH_HEAD" };
}

function runGit(
  args: readonly string[],
  cwd: string,
  { env = {}, input = "" }: { env?: Record<string, string>; input?: string } = {},
): string {
  const { status, stdout, stderr } = spawnSync("git", args, {
    cwd,
    input,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    // A host that asks for a password has no such public repository.
    env: { ...process.env, ...env, GIT_TERMINAL_PROMPT: "0" },
  });
  if (status !== 0) throw new NotFetched(`git ${args[0]}: ${stderr.trim()}`);
  return stdout.trim();
}
