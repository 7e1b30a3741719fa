import type { GitTips } from "../ports/git-source.ts";
import type { Workspace } from "../ports/temporary-workspaces.ts";
import { findGitAccess, type FindGitAccessDeps, type WantedRepository } from "./find-git-access.ts";

export interface ReadBranchTipDeps extends FindGitAccessDeps {
  gitTips: GitTips;
}

/**
 * Asks the git host for the id of the newest commit of a branch, with the git connection of the organization for it. Nothing is
 * checked out.
 *
 * @throws {BuildFailure} as a checkout does
 * @throws the reason of `signal` when it is aborted
 */
export async function readBranchTip(
  deps: ReadBranchTipDeps,
  { sourceDirectory: directory }: Pick<Workspace, "sourceDirectory">,
  { branch, signal, ...wanted }: WantedRepository & { branch: string; signal: AbortSignal },
): Promise<string> {
  const access = await findGitAccess(deps, wanted);
  const onOutput = (): void => undefined;
  return deps.gitTips.readTip({ repo: wanted.repo, access, branch, directory, onOutput, signal });
}
