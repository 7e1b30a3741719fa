/** A kind of git host: which API it has, and with which user name it takes a token. `git` has no API. */
export const GIT_HOST_KINDS = ["github", "gitlab", "gitea", "bitbucket", "git"] as const;

export type GitHostKind = (typeof GIT_HOST_KINDS)[number];

/** How to read the repositories of a host. */
export interface GitAccess {
  /** `owner/name` is appended to it: `https://gitlab.example.com`. */
  url: string;
  /** The header `Authorization`, which is sent to this host only; `null` for none. It never enters a sandbox, an error or a log. */
  authorization: string | null;
}

/** A host with its API. */
export interface GitHostAccess extends GitAccess {
  kind: GitHostKind;
  /** The header `Authorization` for the API. */
  apiAuthorization: string;
}

export interface HostedRepository {
  /** As owner/name. In GitLab, the owner can be a group in a group, which cannot be deployed. */
  repo: string;
  default_branch: string | null;
  is_private: boolean;
  /** When somebody pushed last, as ISO 8601; `null` if the host does not say it. */
  pushed_at: string | null;
}

export interface HostedBranch {
  name: string;
  /** The id of its newest commit. */
  commit: string;
}

/** A page of a list, and the number of the next page; `null` on the last one. */
export interface HostedPage<Item> {
  items: Item[];
  nextPage: number | null;
}

/** How the deployment of a commit goes. */
export type CommitState = "pending" | "success" | "failure" | "canceled";

export interface CommitStatus {
  commit: string;
  state: CommitState;
  /** What the status is of. A later status with the same context replaces it. */
  context: string;
  description: string;
  /** Where details are; `null` if there is no address that the host can link to. */
  url: string | null;
}

/** Why a host does not answer: it refuses the credential, does not have the repository, or cannot be reached. */
export type GitHostProblem = "refused" | "not_found" | "unreachable";

export class GitHostError extends Error {
  override readonly name = "GitHostError";
  readonly problem: GitHostProblem;

  constructor(problem: GitHostProblem, options?: ErrorOptions) {
    super(`git host: ${problem}`, options);
    this.problem = problem;
  }
}

/** The git hosts of organizations. */
export interface GitHosts {
  /** Returns in a clause why the service never connects to this URL; `null` when it depends on the addresses of the host. */
  findUrlProblem(url: string): string | null;
  /**
   * Calls the API of the host with the credential.
   *
   * @throws {GitHostError}
   */
  check(host: GitHostAccess): Promise<void>;
  /**
   * Asks whether a repository can be fetched.
   *
   * @throws {GitHostError} when it cannot
   */
  checkRepository(access: GitAccess, repo: string): Promise<void>;
  /**
   * Lists the repositories that the credential can read, the last pushed ones first, where the host can order them.
   *
   * @param query - a part of the name; empty for all
   * @param page - from 1
   * @throws {GitHostError}
   */
  listRepositories(host: GitHostAccess, query: string, page: number): Promise<HostedPage<HostedRepository>>;
  /** @throws {GitHostError} */
  listBranches(host: GitHostAccess, repo: string, page: number): Promise<HostedPage<HostedBranch>>;
  /**
   * Shows a status beside a commit. Safe to repeat.
   *
   * @throws {GitHostError}
   */
  setCommitStatus(host: GitHostAccess, repo: string, status: CommitStatus): Promise<void>;
}
