import type { EntityManager } from "@mikro-orm/core";
import type { HostedBranch, HostedRepository } from "../ports/git-hosts.ts";
import { checkRepo } from "../repositories/repository-rules.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { GitConnection } from "./git-connection.entity.ts";
import {
  connectionNotFound,
  type GitConnectionDeps,
  type GitConnectionView,
  toServiceError,
  toView,
} from "./git-connection-rules.ts";
import { openAccess } from "./open-access.ts";

export interface ReadGitConnectionsDeps extends GitConnectionDeps {
  em: EntityManager;
}

/** Returns the connections of the organization, oldest first. They are at most 100. */
export async function listGitConnections(
  { em }: Pick<ReadGitConnectionsDeps, "em">,
  { orgId }: Caller,
): Promise<{ git_connections: GitConnectionView[] }> {
  const connections = await em.fork().find(GitConnection, { orgId }, { orderBy: { createdAt: "asc", id: "asc" } });
  return { git_connections: connections.map(toView) };
}

export interface RepositoryPageRequest {
  id: string;
  /** A part of the name. */
  query?: string | undefined;
  /** From 1. */
  page: number;
}

export interface RepositoryPage {
  repositories: HostedRepository[];
  /** `null` on the last page. */
  next_page: number | null;
}

/**
 * Lists the repositories that a connection can deploy.
 *
 * @throws {ServiceError} `not_found`; `invalid` when the host does not list them
 */
export async function listRepositories(
  deps: ReadGitConnectionsDeps,
  { orgId }: Caller,
  { id, query = "", page }: RepositoryPageRequest,
): Promise<RepositoryPage> {
  const connection = await findConnection(deps, orgId, id);
  const { repositories = null } = connection;
  const pattern = repositories === null || repositories.includes("/") ? repositories : `${repositories}/`;
  const isCovered = ({ repo }: HostedRepository) =>
    isDeployable(repo) && (pattern === null || repo === pattern || (pattern.endsWith("/") && repo.startsWith(pattern)));
  const { items, nextPage } = await ask(connection, null, async () =>
    deps.gitHosts.listRepositories(await openAccess(deps, connection, { repo: null }), query, page),
  );
  return { repositories: items.filter(isCovered), next_page: nextPage };
}

export interface BranchPage {
  branches: HostedBranch[];
  next_page: number | null;
}

/**
 * Lists the branches of a repository.
 *
 * @throws {ServiceError} `not_found`; `invalid` for a repository that the connection cannot read
 */
export async function listBranches(
  deps: ReadGitConnectionsDeps,
  { orgId }: Caller,
  { id, repo, page }: { id: string; repo: string; page: number },
): Promise<BranchPage> {
  checkRepo(repo);
  const connection = await findConnection(deps, orgId, id);
  const { items, nextPage } = await ask(connection, repo, async () =>
    deps.gitHosts.listBranches(await openAccess(deps, connection, { repo }), repo, page),
  );
  return { branches: items, next_page: nextPage };
}

async function findConnection({ em }: ReadGitConnectionsDeps, orgId: string, id: string): Promise<GitConnection> {
  const connection = await em.fork().findOne(GitConnection, { id, orgId });
  if (connection === null) throw connectionNotFound();
  if (connection.kind === "git")
    throw new ServiceError("invalid", `A connection of the kind "git" cannot list repositories and branches.`);
  return connection;
}

async function ask<T>(connection: GitConnection, repo: string | null, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toServiceError(error, connection, repo);
  }
}

/** GitLab has groups in groups, whose repositories have more than two parts in their name. */
function isDeployable(repo: string): boolean {
  return repo.split("/").length === 2;
}
