import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { Repository } from "../../support/builds/git-repository.ts";
import type { PublicRepository } from "./repositories.ts";

/** The repository could not be fetched, so nothing was deployed. */
export class NotFetched extends Error {}

/**
 * Copies the newest commit of a public repository to `base`, as the repository `owner/name` that an app deploys from. The
 * repository is read from the folder REPOSITORIES_DIR, which has it as `owner/name`, otherwise from GitHub.
 *
 * @throws {NotFetched} when the repository or its folder cannot be read
 */
export async function publishRepository({ repo, folder }: PublicRepository, base: string, name: string): Promise<void> {
  const repository = await Repository.create(base, name);
  const fetched = spawnSync("git", ["fetch", "--quiet", "--depth", "1", sourceOf(repo), "HEAD"], {
    cwd: repository.path,
    encoding: "utf8",
    // A host that asks for a password has no such public repository.
    env: { ...process.env, GIT_TERMINAL_PROMPT: "0" },
  });
  if (fetched.status !== 0) throw new NotFetched(fetched.stderr.trim());
  const commit = `FETCH_HEAD:${folder ?? ""}`;
  const tree = await repository.git(["rev-parse", "--verify", commit]).catch(() => {
    throw new NotFetched(`The repository has no folder ${folder}.`);
  });
  await repository.commit(tree);
}

function sourceOf(repo: string): string {
  const directory = process.env["REPOSITORIES_DIR"];
  if (directory === undefined) return `https://github.com/${repo}.git`;
  const [found = path.join(directory, repo)] = [repo, `${repo}.git`]
    .map((name) => path.join(directory, name))
    .filter((folder) => existsSync(folder));
  return `file://${path.resolve(found)}`;
}
