/**
 * A kind of git host: which API it has, and how the service authenticates. `github_app` is GitHub too, where an app has a private key
 * in place of a token. `git` has no API.
 */
export const GIT_HOST_KINDS = ["github", "github_app", "gitlab", "gitea", "bitbucket", "git"] as const;

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

/** A GitHub App, with the key with which it authenticates. */
export interface GitHubApp {
  /** Of the host: `https://github.com`, or an own GitHub Enterprise Server. */
  url: string;
  /** Its id, or its client id. */
  appId: string;
  /** RSA, as PEM. */
  privateKey: string;
}

/** What an account has permitted an app: it has installed the app for all or some of its repositories. */
export interface Installation {
  id: number;
  /** The name of the user or the organization. */
  account: string;
  isSuspended: boolean;
}

/** What a token of an installation permits, such as `{ contents: "read" }`. An installation may permit less. */
export type TokenPermissions = Readonly<Partial<Record<"contents" | "metadata" | "statuses", "read" | "write">>>;

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
  /**
   * Finds installations of an app: the one with the id, the one for the owner or the repository, or all.
   *
   * @param wanted.repositories - an owner, or one repository as owner/name
   * @throws {GitHostError} `refused` when GitHub does not accept the key
   */
  findInstallations(
    app: GitHubApp,
    wanted: { installationId: number | null; repositories: string | null },
  ): Promise<Installation[]>;
  /**
   * Returns a token of an installation, which is valid for at least ten minutes. It is kept until then.
   *
   * @param repo - the only repository for which it is; `null` for all of the installation
   * @throws {GitHostError} `refused` or `not_found` when the installation is suspended or deleted, lacks the repository or does
   *   not permit what is wanted
   */
  issueToken(
    app: GitHubApp & { installationId: number },
    repo: string | null,
    permissions: TokenPermissions,
  ): Promise<string>;
  /** @throws {GitHostError} */
  listBranches(host: GitHostAccess, repo: string, page: number): Promise<HostedPage<HostedBranch>>;
  /**
   * Shows a status beside a commit. Safe to repeat.
   *
   * @throws {GitHostError}
   */
  setCommitStatus(host: GitHostAccess, repo: string, status: CommitStatus): Promise<void>;
}
