import type { Bundle, Bundler } from "../../domain/ports/bundler.ts";
import type { GitSource } from "../../domain/ports/git-source.ts";
import type { TemporaryWorkspaces } from "../../domain/ports/temporary-workspaces.ts";

interface BuildPlatform {
  git: GitSource;
  bundler: Bundler;
  workspaces: TemporaryWorkspaces;
}

/** Builds an example like a deployment does, and keeps the bundle in its workspace. */
export function buildExample(platform: BuildPlatform, example: string): Promise<Bundle> {
  return buildRepository(platform, `examples/${example}`);
}

/** @param repo - such as `examples/hello` */
export async function buildRepository({ git, bundler, workspaces }: BuildPlatform, repo: string): Promise<Bundle> {
  const { sourceDirectory, outputDirectory } = await workspaces.open(repo.replace("/", "-"), 1);
  const onOutput = () => undefined;
  const { signal } = new AbortController();
  await git.checkOut({ repo, branch: "main", directory: sourceDirectory, onOutput, signal });
  return bundler.bundle({ sourceDirectory, outputDirectory, onOutput, signal });
}
