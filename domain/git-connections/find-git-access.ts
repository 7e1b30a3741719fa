import type { EntityManager } from "@mikro-orm/core";
import { type GitAccess, type GitHostAccess, GitHostError, type GitHosts } from "../ports/git-hosts.ts";
import { BuildFailure, ServiceError } from "../shared/errors.ts";
import { GitConnection } from "./git-connection.entity.ts";
import { type GitConnectionDeps, toAccess } from "./git-connection-rules.ts";

export interface FindGitAccessDeps {
  em: EntityManager;
  gitHosts: Pick<GitHosts, "checkRepository">;
  gitTokenCipher: GitConnectionDeps["gitTokenCipher"];
  /** The host whose public repositories can be deployed without a connection, such as `https://github.com`. */
  gitBaseUrl: string;
}

/** Which repository of which organization is read. */
export interface WantedRepository {
  orgId: string;
  /** As owner/name. */
  repo: string;
  /** `null` for the host of `gitBaseUrl`. */
  host: string | null;
}

/**
 * Finds how to read a repository now: with the connection that is the most specific one for it.
 *
 * @returns `null` for a repository of the service's own git host without a connection
 * @throws {BuildFailure} `user` when the organization is not connected to the host any more
 */
export async function findGitAccess(deps: FindGitAccessDeps, wanted: WantedRepository): Promise<GitAccess | null> {
  const host = wanted.host ?? hostOf(deps.gitBaseUrl);
  const [connection] = await findConnections(deps, wanted, host);
  if (connection !== undefined) return toAccess(deps, connection);
  if (wanted.host === null || wanted.host === hostOf(deps.gitBaseUrl)) return null;
  throw new BuildFailure(
    "user",
    `The organization has no git connection for ${wanted.repo} at ${wanted.host}.`,
    "Connect the git host again, then redeploy.",
  );
}

/**
 * Finds the API of the host that has a repository.
 *
 * @returns `null` without a connection, and for a host without an API
 */
export async function findHostAccess(
  deps: Pick<FindGitAccessDeps, "em" | "gitTokenCipher" | "gitBaseUrl">,
  wanted: WantedRepository,
): Promise<GitHostAccess | null> {
  const [connection] = await findConnections(deps, wanted, wanted.host ?? hostOf(deps.gitBaseUrl));
  return connection === undefined || connection.kind === "git" ? null : toAccess(deps, connection);
}

/**
 * Decides which host has a repository that a request names.
 *
 * @param host - what the request names; without it, every connected host is asked
 * @returns `null` for the host of `gitBaseUrl`
 * @throws {ServiceError} `invalid` for a host without a connection, and when more than one host has the repository
 */
export async function resolveHost(
  deps: FindGitAccessDeps,
  { orgId, repo }: Pick<WantedRepository, "orgId" | "repo">,
  host: string | undefined,
): Promise<string | null> {
  const own = hostOf(deps.gitBaseUrl);
  if (host === own) return null;
  const connections = await findConnections(deps, { orgId, repo }, host ?? null);
  if (host !== undefined) {
    if (connections.length > 0) return host;
    throw new ServiceError("invalid", `host: there is no git connection for ${repo} at ${JSON.stringify(host)}.`);
  }
  const others = [...new Map(connections.toReversed().map((each) => [each.host, each])).values()];
  if (others.every((each) => each.host === own)) return null;
  const found = await Promise.all(
    others.map(async (each) => ((await canRead(deps, toAccess(deps, each), repo)) ? [each.host] : [])),
  );
  const isOwn = others.some((each) => each.host === own);
  if (!isOwn && own !== null && (await canRead(deps, { url: deps.gitBaseUrl, authorization: null }, repo)))
    found.push([own]);
  const hosts = found.flat();
  if (hosts.length > 1)
    throw new ServiceError("invalid", `host: is required, because ${hosts.join(" and ")} have ${repo}.`);
  return hosts[0] === undefined || hosts[0] === own ? null : hosts[0];
}

async function canRead({ gitHosts }: FindGitAccessDeps, access: GitAccess, repo: string): Promise<boolean> {
  try {
    await gitHosts.checkRepository(access, repo);
    return true;
  } catch (error) {
    if (error instanceof GitHostError) return false;
    throw error;
  }
}

/** The connections for a repository, the most specific ones first. */
async function findConnections(
  { em }: Pick<FindGitAccessDeps, "em">,
  { orgId, repo }: Pick<WantedRepository, "orgId" | "repo">,
  host: string | null,
): Promise<GitConnection[]> {
  const scopes = [repo, repo.split("/")[0] ?? repo, null];
  const where = { orgId, ...(host !== null && { host }), $or: scopes.map((repositories) => ({ repositories })) };
  const found = await em.fork().find(GitConnection, where, { orderBy: { createdAt: "desc" } });
  const rank = ({ repositories = null }: GitConnection) => scopes.indexOf(repositories);
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** `null` for a local folder of repositories. */
function hostOf(url: string): string | null {
  return new URL(url).host || null;
}
