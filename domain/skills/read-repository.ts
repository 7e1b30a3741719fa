import { randomUUID } from "node:crypto";
import { checkBranch, checkRepo } from "../repositories/repository-rules.ts";
import type { Workspace, TemporaryWorkspaces } from "../ports/temporary-workspaces.ts";
import { resolveHost } from "../git-connections/find-git-access.ts";
import { checkOutRepository, type CheckOutRepositoryDeps } from "../git-connections/check-out-repository.ts";
import { ServiceError } from "../shared/errors.ts";
import type { CheckoutLimiter } from "./checkout-limiter.ts";
import { FileCollector, type SkillFiles } from "./collect-files.ts";
import { findPathViolation } from "./file-path-rules.ts";
import type { SkillRepository } from "./skill.entity.ts";

export interface ReadRepositoryDeps extends CheckOutRepositoryDeps {
  workspaces: TemporaryWorkspaces;
  checkouts: CheckoutLimiter;
}

export interface RepositoryFolder {
  repo: string;
  /** The git host; without it, the one that has the repository. */
  host?: string | undefined;
  /** By default `main`, or the default branch of a repository without `main`. */
  branch?: string | undefined;
  /** The folder of the skill; by default the root. Its name may differ from that of the skill, as it often does. */
  path?: string | undefined;
}

/** The checkout of a large repository takes a few seconds. A client waits for the response. */
const TIMEOUT_SECONDS = 60;

/**
 * Reads the files of a skill from a folder of a repository. Links are left out.
 *
 * @throws {ServiceError} `invalid` for a repository that cannot be read, and for files that no skill may have;
 *   `conflict` or `unavailable` while other repositories are read
 */
export async function readRepository(
  deps: ReadRepositoryDeps,
  orgId: string,
  { name, repo, host: wantedHost, branch, path = "." }: RepositoryFolder & { name: string },
): Promise<{ files: SkillFiles; repository: SkillRepository }> {
  checkRepo(repo);
  if (branch !== undefined) checkBranch(branch);
  const folder = normalizeFolder(path);
  const { workspaces, checkouts } = deps;
  return checkouts.run(orgId, async () => {
    const host = await resolveHost(deps, { orgId, repo }, wantedHost);
    const workspace = await workspaces.open(randomUUID(), 1);
    try {
      const wanted = { repo, host, branch: branch ?? null };
      const commit = await checkOutRepository(deps, workspace, { ...wanted, orgId, timeoutSeconds: TIMEOUT_SECONDS });
      const files = await readFolder(workspace, folder, name);
      return { files, repository: { ...wanted, path: folder, commit } };
    } finally {
      await workspace.remove();
    }
  });
}

function normalizeFolder(path: string): string {
  const folder = path.replace(/^\.\//, "").replace(/\/$/, "");
  if (folder === "" || folder === ".") return ".";
  const violated = findPathViolation(folder);
  if (violated !== null) throw new ServiceError("invalid", `path: ${violated}. Example: "skills/pdf-forms".`);
  return folder;
}

/** Lists the whole checkout, which skips links, because a folder on the way to the skill could be a link too. */
async function readFolder(workspace: Workspace, folder: string, name: string): Promise<SkillFiles> {
  const prefix = folder === "." ? "" : `${folder}/`;
  const collector = new FileCollector();
  let count = 0;
  for await (const file of workspace.sourceFiles()) {
    if (!file.path.startsWith(prefix)) continue;
    const path = file.path.slice(prefix.length);
    collector.reserve(path);
    collector.add(path, await file.read());
    count += 1;
  }
  if (count === 0) throw new ServiceError("invalid", `path: the branch has no files in the folder "${folder}".`);
  return collector.finish(name);
}
