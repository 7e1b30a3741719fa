import type { EntityManager } from "@mikro-orm/core";
import {
  type GitAccess,
  type GitHostAccess,
  GitHostError,
  type GitHosts,
  type TokenPermissions,
} from "../ports/git-hosts.ts";
import { REPOSITORY_NOT_READABLE } from "../ports/git-source.ts";
import { BuildFailure, ServiceError } from "../shared/errors.ts";
import { GitConnection } from "./git-connection.entity.ts";
import { openAccess, type OpenAccessDeps } from "./open-access.ts";

export interface FindGitAccessDeps {
  em: EntityManager;
  gitHosts: Pick<GitHosts, "checkRepository" | "issueToken">;
  gitTokenCipher: OpenAccessDeps["gitTokenCipher"];
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
 * @throws {BuildFailure} `user` when the organization is not connected to the host any more, or its GitHub App may not read the
 *   repository any more; `platform` when GitHub does not respond
 */
export async function findGitAccess(deps: FindGitAccessDeps, wanted: WantedRepository): Promise<GitAccess | null> {
  const host = wanted.host ?? hostOf(deps.gitBaseUrl);
  const [connection] = await findConnections(deps, wanted, host);
  if (connection !== undefined)
    return openAccess(deps, connection, wanted).catch((error: unknown) => {
      throw error instanceof GitHostError ? toBuildFailure(error) : error;
    });
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
 * @param wanted - `permissions` that a token of a GitHub App has to have
 * @returns `null` without a connection, and for a host without an API
 */
export async function findHostAccess(
  deps: OpenAccessDeps & Pick<FindGitAccessDeps, "em" | "gitBaseUrl">,
  wanted: WantedRepository & { permissions: TokenPermissions },
): Promise<GitHostAccess | null> {
  const [connection] = await findConnections(deps, wanted, wanted.host ?? hostOf(deps.gitBaseUrl));
  return connection === undefined || connection.kind === "git" ? null : openAccess(deps, connection, wanted);
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
    others.map(async (each) => {
      const open = () => openAccess(deps, each, { repo });
      return (await canRead(deps, open, repo)) ? [each.host] : [];
    }),
  );
  const isOwn = others.some((each) => each.host === own);
  const openOwn = () => Promise.resolve({ url: deps.gitBaseUrl, authorization: null });
  if (!isOwn && own !== null && (await canRead(deps, openOwn, repo))) found.push([own]);
  const hosts = found.flat();
  if (hosts.length > 1)
    throw new ServiceError("invalid", `host: is required, because ${hosts.join(" and ")} have ${repo}.`);
  return hosts[0] === undefined || hosts[0] === own ? null : hosts[0];
}

/** Returns the URLs below which the connected hosts of an organization have their repositories. */
export async function listConnectedUrls({ em }: Pick<FindGitAccessDeps, "em">, orgId: string): Promise<string[]> {
  const connections = await em.fork().find(GitConnection, { orgId }, { fields: ["url"] });
  return [...new Set(connections.map(({ url }) => url))];
}

async function canRead(
  { gitHosts }: FindGitAccessDeps,
  open: () => Promise<GitAccess>,
  repo: string,
): Promise<boolean> {
  try {
    await gitHosts.checkRepository(await open(), repo);
    return true;
  } catch (error) {
    if (error instanceof GitHostError) return false;
    throw error;
  }
}

/** An app that may not read a repository looks as if the repository did not exist, as with a token. */
function toBuildFailure({ problem }: GitHostError): BuildFailure {
  if (problem === "unreachable")
    return new BuildFailure(
      "platform",
      "GitHub did not issue a token for the repository.",
      "Your app is not the cause. Deploy again in a few minutes.",
    );
  return new BuildFailure(
    "user",
    REPOSITORY_NOT_READABLE,
    "Check on GitHub that the GitHub App of the git connection is installed for it, may read contents, and is not suspended. Then deploy again.",
  );
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
