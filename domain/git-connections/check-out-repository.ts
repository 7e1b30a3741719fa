import { findGitAccess, type FindGitAccessDeps } from "./find-git-access.ts";
import type { GitSource } from "../ports/git-source.ts";
import type { Workspace } from "../ports/temporary-workspaces.ts";
import { BuildFailure, ServiceError } from "../shared/errors.ts";

export interface CheckOutRepositoryDeps extends FindGitAccessDeps {
  git: GitSource;
}

export interface RepositoryCheckout {
  orgId: string;
  /** `owner/name`, already validated. */
  repo: string;
  /** The connected git host that has the repository; `null` for the service's own. */
  host: string | null;
  /** By default `main`, or the default branch of a repository without `main`. */
  branch: string | null;
  timeoutSeconds: number;
  signal?: AbortSignal;
}

/**
 * Checks out a repository for something else than a deployment, with the git connection of the organization for it.
 *
 * @returns the id of the commit
 * @throws {ServiceError} `invalid` for a repository that cannot be read; `unavailable` when the git host does not respond
 * @throws the reason of `signal` when it is aborted
 */
export async function checkOutRepository(
  deps: CheckOutRepositoryDeps,
  { sourceDirectory: directory }: Pick<Workspace, "sourceDirectory">,
  { orgId, repo, host, branch, timeoutSeconds, signal }: RepositoryCheckout,
): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    const { commit } = await deps.git.checkOut({
      repo,
      access: await findGitAccess(deps, { orgId, repo, host }),
      branch: branch ?? "main",
      orDefaultBranch: branch === null,
      directory,
      onOutput: () => undefined,
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    return commit;
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted)
      throw new ServiceError("invalid", `repo: the checkout took longer than ${timeoutSeconds} seconds.`, {
        cause: error,
      });
    if (!(error instanceof BuildFailure)) throw error;
    // The advice of a build failure is about deployments.
    throw new ServiceError(error.kind === "user" ? "invalid" : "unavailable", `repo: ${error.message}`, {
      cause: error,
    });
  }
}
